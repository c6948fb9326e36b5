import CLinux
import Glibc

/// Starts a dedicated thread for work that blocks. The cooperative pool has only as many threads as the machine has
/// cores, and one that waits for a disk delays every other task.
///
/// The thread is detached. If its end must be known, `body` itself has to report it in its last lines.
///
/// - Parameter name: shown by `top -H` and debuggers; the kernel keeps its first 15 bytes.
/// - Returns: false when the system has no thread left (`EAGAIN`); `body` then does not run.
public func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let start = Unmanaged.passRetained(Start(name: name, body: body))  // released at the head of `entry`
    var thread = pthread_t()
    guard pthread_create(&thread, nil, entry, start.toOpaque()) == 0 else {
        start.release()
        return false
    }
    pthread_detach(thread)
    return true
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
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()  // retained in `startThread`
    _ = shim_name_thread(start.name)
    start.body()
    return nil
}
