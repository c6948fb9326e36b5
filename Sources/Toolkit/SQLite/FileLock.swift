import Glibc

/// An exclusive lock for a file, held by means of a separate lock file until this value is destroyed.
///
/// The kernel releases the lock when the process ends in any way, so no stale lock can remain. The lock is on a
/// separate file, because closing any descriptor of the database file would release SQLite's own POSIX locks on it
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2). A second attempt in the same process to lock the file also fails,
/// because a lock of `flock` belongs to one opened descriptor and not to the process.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// The reason why the lock was not acquired.
    public enum LockError: Error, Sendable, Equatable {
        /// Another process, or another owner in this process, holds the lock.
        case held
        /// The lock file cannot be created or locked. The value is the error number of the system.
        case system(errno: Int32)
    }

    /// Acquires the lock, or throws immediately without waiting. `path` is the path of the lock file. The lock file is
    /// not removed after the release. If it were removed, two owners could lock two different files with the same name.
    ///
    /// - Throws: ``LockError/held`` when another owner holds the lock; ``LockError/system(errno:)`` when the lock file
    ///   cannot be opened or locked.
    public init(path: String) throws(LockError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw code == EWOULDBLOCK ? .held : .system(errno: code)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
