internal import CLinux
internal import Glibc

/// An eventfd with which other threads wake the thread of a connection.
final class EventFD: Sendable {
    let descriptor: Int32

    /// Creates the eventfd; `nil` when the system cannot create the descriptor.
    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    func raise() {
        // The write fails only when the counter is full. The thread wakes up in that case anyway.
        _ = eventfd_write(descriptor, 1)
    }

    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor, &count)
    }
}
