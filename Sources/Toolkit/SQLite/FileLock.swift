import Glibc

/// A process's exclusive lock for a file, taken on a separate lock file and held until released.
///
/// The kernel releases it when the process dies, however it dies, so a stale lock cannot remain. The lock is on a
/// separate file because closing any descriptor of the database itself would drop SQLite's own POSIX locks on it
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2). `flock` binds to the open file, so a second lock within the same
/// process is refused as well.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// The reason why the lock was not taken.
    public enum LockError: Error, Sendable, Equatable {
        /// Another process, or another owner in this process, holds it.
        case held
        /// The lock file cannot be created or locked; the system's error number.
        case system(errno: Int32)
    }

    /// Takes the lock or throws at once; it never waits. The lock file remains after the release: removing it would let
    /// two holders lock two different files of the same name.
    ///
    /// - Throws: ``LockError/held`` when another holder has the lock; ``LockError/system(errno:)`` when the file cannot
    ///   be opened.
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
