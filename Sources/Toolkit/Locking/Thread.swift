import CLinux
import Glibc

/// Starts a dedicated thread for work that blocks. Do not run such work on the cooperative pool: it has only as many
/// threads as the machine has cores, and a blocked thread delays all other tasks.
///
/// The thread is detached. If the caller must know when the thread ends, `body` must report it in its last lines.
///
/// - Parameter name: the name of the thread, which `top -H` and debuggers show. The kernel stores only the first 15
///   bytes.
/// - Returns: false when the system cannot create a thread (`EAGAIN`). `body` then does not run.
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
