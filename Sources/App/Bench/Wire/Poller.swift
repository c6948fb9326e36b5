import CLinux
import Glibc

/// Waits for many descriptors.
final class Poller {
    let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity: Int

    /// - Parameter capacity: what one wait hands out at most: the time until others have their turn again.
    init(capacity: Int) throws(BenchFailure) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw BenchFailure("epoll_create1 failed with \(errno)") }
        self.capacity = capacity
        events = .allocate(capacity: capacity)
    }

    deinit {
        close(descriptor)
        events.deallocate()
    }

    static let readable = EPOLLIN.rawValue | EPOLLRDHUP.rawValue
    static let writable = EPOLLOUT.rawValue

    func add(_ other: Int32, tag: UInt64, events: UInt32 = readable) { control(EPOLL_CTL_ADD, other, tag, events) }
    func change(_ other: Int32, tag: UInt64, events: UInt32) { control(EPOLL_CTL_MOD, other, tag, events) }
    func remove(_ other: Int32) { control(EPOLL_CTL_DEL, other, 0, 0) }

    private func control(_ action: Int32, _ other: Int32, _ tag: UInt64, _ events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: tag))
        let code = epoll_ctl(descriptor, action, other, &event)
        precondition(code == 0, "epoll_ctl failed with \(errno)")
    }

    /// Hands the tag of each ready descriptor to `body`.
    @inline(__always)
    func wait(milliseconds: Int32, _ body: (UInt64) -> Void) {
        let count = epoll_wait(descriptor, events, Int32(capacity), milliseconds)
        var index = 0
        while index < Int(count) {
            body(events[index].data.u64)
            index += 1
        }
    }
}
