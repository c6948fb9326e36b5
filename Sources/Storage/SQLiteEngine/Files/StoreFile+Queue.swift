public import ChatModel
import Glibc
import SQLite

/// The state of a store's delivery queue, read from the file without an engine.
public struct StoreQueue: Sendable {
    /// Deliveries that are waiting for an attempt.
    public var waiting: Int
    /// Deliveries that were given up.
    public var dead: Int
    /// Paused webhooks and subscriptions, which receive nothing at the moment, as `app/name`.
    public var disabled: [String]
}

extension StoreFile {
    /// The version of the SQLite library in use.
    public static var libraryVersion: String { Database.libraryVersion }

    /// True when an engine of any process has the file open. Creates no file where none exists.
    public var isInUse: Bool {
        guard StoreFile(at: path + ".lock").exists else { return false }
        do throws(FileLock.LockError) {
            _ = try FileLock(path: path + ".lock")
            return false
        } catch { return error == .held }
    }

    /// The upper bound of the timetokens that may have been assigned.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
    public func lastReserved() throws(SQLiteEngineFailure) -> Timetoken {
        try reading { (database) throws(SQLiteFailure) in try Heads(database).timetoken }
    }

    /// Reads the state of the delivery queue.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
    public func queue() throws(SQLiteEngineFailure) -> StoreQueue {
        try reading { (database) throws(SQLiteFailure) in
            func deliveries(_ state: Int) throws(SQLiteFailure) -> Int {
                // Uses the index of states: a scan of millions of rows would have to read them from the disk.
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
    /// Pages copied per step (256 KiB). Between steps the writer of a busy store gets the processor and the disk again.
    private static let pagesAtOnce = 64
    /// Pages copied between two syncs (8 MiB). Data that is left to the system piles up, and the writer's next commit
    /// would have to wait until all of it is on the disk (measured: docs/performance.md).
    private static let pagesPerSync = 2048

    /// Copies the store as it is at this moment into a new file. The copy is on the disk when this returns.
    ///
    /// - Parameter progress: called with the number of pages copied and the total number.
    /// - Throws: ``SQLiteEngineFailure`` when `target` exists already or a file cannot be read or written.
    public func copy(to target: String, progress: (_ copied: Int, _ total: Int) -> Void) throws(SQLiteEngineFailure) {
        // Creates the file before SQLite does, so that only its owner can read it, whatever the umask is.
        let descriptor = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("make", target) }
        defer { close(descriptor) }
        var synced = 0
        try reading { (source) throws(SQLiteFailure) in
            let copy = try Database(path: target, mode: .readWrite)
            // No journal is needed: nothing reads the copy before it is complete, and a partial copy left by a crash is
            // discarded.
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
            // The copied header says that the file uses a write-ahead log. Without one the copy is a single file.
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
    /// The bodies of all records of a kind, in all apps. Reads them all into memory, so use it for kinds with few
    /// records.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
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
    /// Records that the store was restored from a backup at `moment`. Events stored between the backup and that moment
    /// are lost, and a reader that resumes from a position before the end of that interval gets a gap. No new event
    /// gets a timetoken within the interval.
    ///
    /// No other connection may have the file open.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read or written.
    public func recordRestore(at moment: Timetoken) throws(SQLiteEngineFailure) {
        do throws(SQLiteFailure) {
            let database = try Database(path: path, mode: .readWrite)
            try database.execute("PRAGMA synchronous=FULL")
            try database.transaction { () throws(SQLiteFailure) in
                let last = try Heads(database).timetoken
                let end = max(moment, last)
                let insert = try database.prepare("INSERT INTO restore(after, upto) VALUES (?1, ?2)")
                insert.bind(Int64(last.rawValue), at: 1)
                insert.bind(Int64(end.rawValue), at: 2)
                try insert.run()
                let head = try database.prepare("UPDATE head SET tt = max(tt, ?1) WHERE lane = 0")
                head.bind(Int64(end.rawValue), at: 1)
                try head.run()
            }
        } catch {
            throw SQLiteEngineFailure(error, path: path)
        }
    }
}
