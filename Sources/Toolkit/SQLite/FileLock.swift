import Glibc

/// The right of one process to a file: an exclusive lock on a side file, held until released.
///
/// The kernel frees it when the process dies, however it dies, so there is nothing stale to clean up. A side file because
/// closing any descriptor of the database itself would drop SQLite's own POSIX locks on it
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2). `flock` binds to the open file, so a second holder inside the same process
/// is refused as well.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Why there is no lock.
    public enum LockError: Error, Sendable, Equatable {
        /// Somebody else holds it.
        case held
        /// The file cannot be made or locked; the system's error number.
        case system(errno: Int32)
    }

    /// Takes the lock, or says at once why not. The side file stays behind after release; removing it would let two
    /// holders lock two different files of one name.
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
