public import ChatModel
import Glibc
import SQLite

/// What waits in a store, as somebody sees it who looks from outside.
public struct StoreQueue: Sendable {
    /// Deliveries to be tried, and those given up.
    public var waiting: Int
    public var dead: Int
    /// Endpoints that get nothing at the moment, with their apps.
    public var disabled: [String]
}

extension StoreFile {
    /// The version of the SQLite library in use.
    public static var libraryVersion: String { Database.libraryVersion }

    /// Whether an engine has the file, in whatever process. Makes nothing where there is nothing.
    public var isInUse: Bool {
        guard StoreFile(at: path + ".lock").exists else { return false }
        do throws(FileLock.LockError) {
            _ = try FileLock(path: path + ".lock")
            return false
        } catch { return error == .held }
    }

    /// The last timetoken that may have been given out.
    public func lastReserved() throws(SQLiteEngineFailure) -> Timetoken {
        try reading { (database) throws(SQLiteFailure) in try Heads(database).timetoken }
    }

    /// What waits for webhooks.
    public func queue() throws(SQLiteEngineFailure) -> StoreQueue {
        try reading { (database) throws(SQLiteFailure) in
            func deliveries(_ state: Int) throws(SQLiteFailure) -> Int {
                // By the index of states: a walk over millions of rows would be read from the disk.
                Int(
                    try database.integer(
                        """
                        SELECT sum((SELECT count(*) FROM delivery INDEXED BY delivery_state
                        WHERE ep = subscriber.id AND state = \(state))) FROM subscriber
                        """) ?? 0)
            }
            var disabled: [String] = []
            let subscribers = try database.prepare(
                "SELECT app, name FROM subscriber WHERE state = \(LaneState.paused.rawValue) ORDER BY app, name")
            try subscribers.forEachRow { row throws(SQLiteFailure) in
                disabled.append("\(row.text(0))/\(row.text(1))")
                return true
            }
            return StoreQueue(waiting: try deliveries(0), dead: try deliveries(2), disabled: disabled)
        }
    }
}

extension StoreFile {
    /// 256 KiB: the writer of a busy store gets the processor and the disk again in between.
    private static let pagesAtOnce = 64
    /// 8 MiB. What is left to the system piles up, and the writer's next commit would have to wait until all of that is on
    /// the disk (measured: docs/performance.md).
    private static let pagesPerSync = 2048

    /// Copies the store as it is at this moment into a new file, which is on the disk when this returns.
    ///
    /// - Parameter progress: told how many pages are copied, and how many there are.
    public func copy(to target: String, progress: (_ copied: Int, _ total: Int) -> Void) throws(SQLiteEngineFailure) {
        // Before SQLite makes it: readable by its owner only, whatever the mask.
        let descriptor = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("make", target) }
        defer { close(descriptor) }
        var synced = 0
        try reading { (source) throws(SQLiteFailure) in
            let copy = try Database(path: target, mode: .readWrite)
            // Nobody reads it before it is whole, and what a crash leaves of it is thrown away.
            try copy.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
            try source.copy(to: copy, pagesAtOnce: Self.pagesAtOnce) { (copied, total) throws(SQLiteFailure) in
                if copied - synced >= Self.pagesPerSync {
                    fdatasync(descriptor)
                    synced = copied
                }
                progress(copied, total)
            }
        }
        do throws(SQLiteFailure) {
            // It came with the mark of a write-ahead log; without one it is a single file.
            try Database(path: target, mode: .readWrite).execute("PRAGMA journal_mode=DELETE")
        } catch {
            throw SQLiteEngineFailure(error, path: target)
        }
        guard fsync(descriptor) == 0 else { throw Self.failure("write", target) }
    }

    private static func failure(_ verb: String, _ path: String) -> SQLiteEngineFailure {
        SQLiteEngineFailure(
            reason: .unusable, description: "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}

extension StoreFile {
    /// The bodies of all records of a kind, of every app. For kinds of which there are few.
    public func bodies(of kind: RecordKind) throws(SQLiteEngineFailure) -> [String] {
        try reading { (database) throws(SQLiteFailure) in
            var bodies: [String] = []
            let records = try database.prepare("SELECT body FROM record WHERE kind = \(kind.rawValue)")
            try records.forEachRow { row throws(SQLiteFailure) in
                bodies.append(row.text(0))
                return true
            }
            return bodies
        }
    }
}

extension StoreFile {
    /// Notes that the store was made of a backup at a moment: what was stored between the two is lost, and who resumes before
    /// the end of that has a gap. Nothing new gets a place in the interval.
    ///
    /// Nobody else has the file open.
    public func noteRestore(at moment: Timetoken) throws(SQLiteEngineFailure) {
        do throws(SQLiteFailure) {
            let database = try Database(path: path, mode: .readWrite)
            try database.execute("PRAGMA synchronous=FULL")
            try database.transaction { () throws(SQLiteFailure) in
                let last = try Heads(database).timetoken
                let end = max(moment, last)
                let note = try database.prepare("INSERT INTO restore(after, upto) VALUES (?1, ?2)")
                note.bind(Int64(last.rawValue), at: 1)
                note.bind(Int64(end.rawValue), at: 2)
                try note.run()
                let head = try database.prepare("UPDATE head SET tt = max(tt, ?1) WHERE lane = 0")
                head.bind(Int64(end.rawValue), at: 1)
                try head.run()
            }
        } catch {
            throw SQLiteEngineFailure(error, path: path)
        }
    }
}
