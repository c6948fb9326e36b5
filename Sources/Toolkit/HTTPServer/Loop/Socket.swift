internal import CLinux
import Glibc

/// Swift wrappers of socket system calls and socket options.
enum Socket {
    /// `MSG_DONTWAIT | MSG_NOSIGNAL`, as a literal so that the delivery loop reads no global variable.
    @inline(__always)
    static var sendFlags: Int32 { 0x40 | 0x4000 }

    /// `MSG_PEEK`
    static var peek: Int32 { 0x2 }

    /// Sends two pieces of memory in one system call.
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

    /// Sets how soon the kernel detects a client whose machine or network has failed. The options are set on a
    /// listening socket, and the sockets accepted from it inherit them. `watchForSilence` then turns on the probes for
    /// one socket.
    ///
    /// The kernel sends the first probe after half of `silence`, then repeats it. `TCP_USER_TIMEOUT` ends the
    /// connection after a time instead of after a number of probes (RFC 5482). This time also limits how long sent data
    /// may stay unacknowledged; without it, the kernel would retransmit the data for a quarter of an hour. The time
    /// also limits how long a client may keep its receive window closed, even if the client's machine responds to every
    /// probe.
    static func bound(silence: Duration, ofAcceptedBy descriptor: Int32) {
        let (seconds, interval) = questions(within: silence)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds / 2)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, interval)
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, (seconds - interval) * 1000)
    }

    /// Returns the time after which the kernel ends a silent connection if `bound` was called with this `silence`.
    static func timeout(for silence: Duration) -> Duration {
        let (seconds, interval) = questions(within: silence)
        return .seconds(seconds - interval)
    }

    private static func questions(within silence: Duration) -> (seconds: Int32, interval: Int32) {
        let seconds = max(5, Int32(clamping: silence.components.seconds))
        return (seconds, max(1, seconds / 6))
    }

    /// Turns on keepalive probes, which the kernel sends while the connection carries no other data.
    static func watchForSilence(_ descriptor: Int32) { set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1) }

    /// True when the peer has acknowledged all bytes that were sent on the socket.
    static func hasSentEverything(_ descriptor: Int32) -> Bool {
        var unacknowledged: Int32 = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &unacknowledged) == 0 && unacknowledged == 0
    }

    /// Sets an integer option. Errors are ignored: a socket that rejects the option works without it.
    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
