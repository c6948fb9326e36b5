public import ChatModel
import Locking
public import Logging

/// Where the engine keeps its file, what it may hold, and the doors to the world that tests take over.
public struct SQLiteEngineSettings: Sendable {
    /// The database file, or `:engineState:`. Beside it lie `-wal` and `-shm` (SQLite's) and `.lock` (ours).
    public var path: String
    public var limits: Limits
    /// The time of day. May step either way: timetokens grow all the same.
    public var clock: WallClock
    /// Nanoseconds of a clock that never steps, for deadlines and leases.
    public var uptime: @Sendable () -> UInt64
    public var logger: Logger
    /// Connections that read, each with a thread of its own. Of no meaning in memory, where the writer reads.
    public var readers: Int
    /// The newest events kept in memory for `committed()` and for readers near the end, in bytes of weight. A consumer
    /// further behind is fed from the file.
    public var tailBytes = 16 * 1024 * 1024
    /// How often what is too old is removed.
    var housekeepingInterval: Duration = .seconds(30)
    /// Pages of 4 KiB the file may have, at which it counts as full; nil leaves it to the disk.
    public var pageLimit: Int?

    /// Tests make it short.
    var logPages = LogPages()

    /// Pages of write-ahead log at which they are copied into the file, and at which readers are made to let go of it. Four
    /// times as many cost as much per event and hold up the batch behind four times as long (measured).
    struct LogPages: Sendable {
        var long = 4_000
        var tooLong = 64_000
    }

    /// - Parameter readers: two at least, else one long history read would hold up everybody's short ones.
    public init(
        path: String, limits: Limits = Limits(), clock: WallClock = .system, readers: Int = 2,
        logger: Logger = Logger(label: "parley.store")
    ) {
        self.path = path
        self.limits = limits
        self.clock = clock
        self.uptime = { uptimeNanoseconds() }
        self.readers = readers
        self.logger = logger
    }

    var isInMemory: Bool { path == ":memory:" }
}
