public import ChatModel
import Glibc
import SQLite

/// The state of a store's delivery queue, which is read from the file without opening an engine.
public struct StoreQueue: Sendable {
    /// The number of deliveries that wait for an attempt.
    public var waiting: Int
    /// The number of dead deliveries, for which no further attempts are made.
    public var dead: Int
    /// The paused webhooks and subscriptions, which receive no deliveries now, each as `app/name`.
    public var disabled: [String]
}

extension StoreFile {
    /// The version of the SQLite library in use.
    public static var libraryVersion: String { Database.libraryVersion }

    /// True when an engine of any process has the file open. Reading this property creates no file.
    public var isInUse: Bool {
        guard StoreFile(at: path + ".lock").exists else { return false }
        do throws(FileLock.LockError) {
            _ = try FileLock(path: path + ".lock")
            return false
        } catch { return error == .held }
    }

    /// Returns the highest reserved timetoken. No higher timetoken has been assigned.
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
                // The condition allows SQLite to use the index of states. Without the index, SQLite would read millions
                // of rows from the disk.
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
    /// The number of pages copied per step (256 KiB). Between two steps, the store's writer can use the processor and
    /// the disk.
    private static let pagesAtOnce = 64
    /// The number of pages copied between two syncs (8 MiB). Without syncs, unwritten data would accumulate in the
    /// system's cache, and the next commit of the store's writer would wait until all of it is on the disk (measured;
    /// see docs/performance.md).
    private static let pagesPerSync = 2048

    /// Copies a snapshot of the store into a new file. The copy is on the disk when the function returns.
    ///
    /// - Parameter progress: called after each step with the number of pages copied so far and the total number.
    /// - Throws: ``SQLiteEngineFailure`` when `target` exists already or a file cannot be read or written.
    public func copy(to target: String, progress: (_ copied: Int, _ total: Int) -> Void) throws(SQLiteEngineFailure) {
        // The file is created here and not by SQLite, so that only its owner can read it, regardless of the umask.
        let descriptor = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("make", target) }
        defer { close(descriptor) }
        var synced = 0
        try reading { (source) throws(SQLiteFailure) in
            let copy = try Database(path: target, mode: .readWrite)
            // No journal is needed, because nothing reads the copy before it is complete, and an incomplete copy after
            // a crash is discarded.
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
            // The copied header says that the file uses a write-ahead log. Turning this mode off makes the copy a
            // single file.
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
    /// Returns the bodies of all records of a kind, in all apps. All bodies are read into memory, so use it only for
    /// kinds with few records.
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
    /// Records in the file that the store was restored from a backup at `moment`. The events stored between the backup
    /// and `moment` are lost. A reader that resumes from a position before `moment` is informed of a gap. No new event
    /// receives a timetoken in the lost interval.
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
