import Glibc
import SQLite

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
