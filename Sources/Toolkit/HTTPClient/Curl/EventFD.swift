internal import CLinux
internal import Glibc

/// An eventfd by which a task ends the loop's wait. Watched edge-triggered, so it never has to be read.
final class EventFD: Sendable {
    let descriptor: Int32

    /// - Throws: when the system has no descriptor to give.
    init() throws(ClientError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ClientError.system("eventfd") }
    }

    deinit { close(descriptor) }

    func raise() {
        // Fails only when the counter is about to overflow, and then the loop is being woken anyway.
        _ = eventfd_write(descriptor, 1)
    }
}
