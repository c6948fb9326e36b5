public import ChatModel
import Locking
public import Logging

/// The settings of a node: its limits, and the clock, the scheduling and the bus, which tests replace.
public struct ClusterEngineSettings: Sendable {
    /// The limits that the engine enforces.
    public var limits: Limits
    /// The logger of the node.
    public var logger: Logger
    /// The maximum memory for the newest events, in bytes (`weight`).
    public var tailBytes = 16 * 1024 * 1024
    /// The maximum number of connections that read. One more connection writes.
    public var readers = 4
    /// The clock of timetokens and expiry.
    var clock: ClusterClock
    /// Runs tasks and waits.
    var scheduler: any ClusterScheduler = SystemScheduler()
    /// The nanoseconds of a monotonic clock.
    var uptime: @Sendable () -> UInt64 = { MonotonicTime.now.nanoseconds }
    /// The versions of the tables that the node knows.
    var schema = ClusterSchema.current
    /// The lease of the node.
    var nodeLease = NodeLease()
    /// The interval between the rounds that remove expired data.
    var housekeepingInterval: Duration = .seconds(30)

    /// Creates settings. Timetokens follow the clock of the PostgreSQL server.
    public init(limits: Limits = Limits(), logger: Logger = Logger(label: "parley.cluster")) {
        self.limits = limits
        self.logger = logger
        let uptime = uptime
        clock = ClusterClock(.steady(from: .system, uptime), followsStore: true)
    }
}

/// The times of the lease of a node. When the lease has ended, other nodes continue the deliveries of the node.
struct NodeLease: Sendable {
    /// The duration of the lease, by the clock of the store.
    var duration: Duration = .seconds(12)
    /// The interval between two renewals.
    var renewal: Duration = .seconds(3)
    /// The time after a renewal, by the node's own clock, after which the node leases no delivery.
    var margin: Duration = .seconds(9)
}

/// The clock of a node. It follows the clock of the store, so that all nodes agree on the time even if their own clocks
/// differ.
final class ClusterClock: Sendable {
    private let local: WallClock
    private let followsStore: Bool
    /// The store's clock minus the local clock, in ticks.
    private let offset = Lock<Int64>(0)

    init(_ local: WallClock, followsStore: Bool) {
        self.local = local
        self.followsStore = followsStore
    }

    /// The current time.
    var now: Timetoken {
        Timetoken(UInt64(clamping: Int64(clamping: local.now.rawValue) + offset.withLock { $0 }))
    }

    /// The longest request whose middle sets the clock: 20 ms, in ticks. The error of the clock is at most half of it.
    private static let longestRequest: Int64 = 200_000

    /// Sets the clock from a time that the store returned to a request. After a slow request, the clock changes only as
    /// far as it is surely wrong.
    ///
    /// - Parameters:
    ///   - time: the store's time; zero if it is not known.
    ///   - sent: the local time at which the request was sent.
    func follow(_ time: Timetoken, requestedAt sent: Timetoken) {
        guard followsStore, time > .zero else { return }
        // The store read its clock at some moment in between.
        let most = Int64(clamping: time.rawValue) - Int64(clamping: sent.rawValue)
        let least = Int64(clamping: time.rawValue) - Int64(clamping: local.now.rawValue)
        guard least <= most else { return }
        offset.withLock { offset in
            offset = most - least <= Self.longestRequest ? least + (most - least) / 2 : min(max(offset, least), most)
        }
    }

    /// The local time, for ``follow(_:requestedAt:)``.
    var localNow: Timetoken { local.now }
}

extension WallClock {
    /// A clock that begins with the time of another clock and then follows an uptime in nanoseconds, so that it is not
    /// affected when the other clock is set.
    static func steady(from clock: WallClock, _ uptime: @escaping @Sendable () -> UInt64) -> WallClock {
        let (start, time) = (uptime(), clock.now)
        return WallClock { time.adding(.nanoseconds(Int64(clamping: uptime() - start))) }
    }
}

/// Runs the tasks of a node, and waits. A simulation replaces it.
protocol ClusterScheduler: Sendable {
    /// Runs a task.
    @discardableResult func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Waits. Returns early when the task is cancelled.
    func sleep(_ duration: Duration) async
}

/// Runs tasks on the cooperative pool.
struct SystemScheduler: ClusterScheduler {
    func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task(operation: body) }
    func sleep(_ duration: Duration) async { try? await Task.sleep(for: duration) }
}

/// Carries hints between nodes. It may lose, delay, repeat and reorder them.
protocol ClusterBus: Sendable {
    /// The reason why hints of other nodes do not arrive; nil if they probably do.
    var problem: String? { get }
    /// Sends a hint to the other nodes. Never waits, and never fails.
    func publish(_ hint: [UInt8])
    /// Calls `receive` for each hint of another node, and `lost` whenever hints may have been lost.
    func start(
        receive: @escaping @Sendable ([UInt8]) -> Void, lost: @escaping @Sendable () -> Void
    ) async
    func close() async
}
