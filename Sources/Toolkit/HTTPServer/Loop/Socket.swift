internal import CLinux
import Glibc

/// The socket calls that Swift cannot make as plainly as C.
enum Socket {
    /// `MSG_DONTWAIT | MSG_NOSIGNAL`, written out so that the delivery loop reads no global.
    @inline(__always)
    static var sendFlags: Int32 { 0x40 | 0x4000 }

    /// `MSG_PEEK`
    static var peek: Int32 { 0x2 }

    /// Sends two pieces of memory in one call.
    static func send(_ descriptor: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        var parts = (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
        )
        return withUnsafeMutablePointer(to: &parts) { parts in
            parts.withMemoryRebound(to: iovec.self, capacity: 2) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 2
                return sendmsg(descriptor, &message, sendFlags)
            }
        }
    }

    /// Sets a whole-number option; a socket that refuses it works without.
    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
