import CLinux
import Glibc

/// A thread of its own, for work that blocks: the cooperative pool has as many threads as the machine has cores, and
/// one that waits for a disk starves every other task.
public final class WorkerThread: Sendable {
    private let handle: Lock<pthread_t?>

    /// Starts the thread. `body` runs once; when it returns the thread ends.
    ///
    /// - Parameter name: shown by `top -H` and debuggers; the kernel keeps its first 15 bytes.
    /// - Returns: `nil` when the system has no thread to give (`EAGAIN`).
    public init?(name: String, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))  // released at the head of `entry`
        var thread = pthread_t()
        guard pthread_create(&thread, nil, entry, start.toOpaque()) == 0 else {
            start.release()
            return nil
        }
        handle = Lock(thread)
    }

    /// Waits until the thread has ended. Blocks the calling thread; the second call returns at once.
    ///
    /// A thread that is never joined gives its memory back only when the process ends, so its owner joins it.
    public func join() {
        let joinable = handle.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let joinable else { return }
        // A thread that lets go of its own last owner cannot wait for itself; it ends anyway.
        if pthread_equal(joinable, pthread_self()) != 0 {
            pthread_detach(joinable)
        } else {
            pthread_join(joinable, nil)
        }
    }
}

private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func entry(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()  // retained in `WorkerThread.init`
    _ = shim_name_thread(start.name)
    start.body()
    return nil
}
