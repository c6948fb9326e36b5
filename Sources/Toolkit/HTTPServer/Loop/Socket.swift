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

    /// Has the sockets that are accepted noticed to be dead within so long, once they are watched (`watchForSilence`): they
    /// inherit what is set of the listening one.
    ///
    /// A machine that answers nothing is asked after half of the time, then again and again; with `TCP_USER_TIMEOUT` that is
    /// over after a time, and not after a number of questions (RFC 5482). The same bounds what was sent and is not acknowledged;
    /// otherwise the kernel would try for a quarter of an hour. And it bounds how long a client may leave its window shut,
    /// though its machine answers every question about it: Linux looks at how long it has been asking alone.
    static func bound(silence: Duration, ofAcceptedBy descriptor: Int32) {
        let (seconds, interval) = questions(within: silence)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds / 2)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, interval)
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, (seconds - interval) * 1000)
    }

    /// After what time the kernel ends a connection that is asked within so long.
    static func patience(for silence: Duration) -> Duration {
        let (seconds, interval) = questions(within: silence)
        return .seconds(seconds - interval)
    }

    private static func questions(within silence: Duration) -> (seconds: Int32, interval: Int32) {
        let seconds = max(5, Int32(clamping: silence.components.seconds))
        return (seconds, max(1, seconds / 6))
    }

    /// Has the kernel ask now and then whether the other machine is there, as long as nothing else is said.
    static func watchForSilence(_ descriptor: Int32) { set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1) }

    /// Has the kernel keep what is written, up to a full packet, for as long as it is told so, and 200 ms at most.
    static func hold(_ descriptor: Int32, _ isHeld: Bool) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_CORK, isHeld ? 1 : 0)
    }

    /// Sets a whole-number option; a socket that refuses it works without.
    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
