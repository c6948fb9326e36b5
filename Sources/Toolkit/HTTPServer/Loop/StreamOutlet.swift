internal import CLinux
import Glibc

/// The destination of a stream's bytes: a socket that this server owns, or an encrypted connection of libmicrohttpd.
protocol StreamOutlet: AnyObject {
    /// The descriptor of the socket that a broadcast may write to; -1 when there is no such socket.
    var descriptor: Int32 { get }
    /// The stream's index in the loop's source table.
    var slot: UInt32 { get }
    /// Writes as many bytes as the destination accepts.
    func write(_ bytes: ArraySlice<UInt8>) -> StreamWrite
    /// Notifies the destination that the stream has unsent bytes.
    func wake()
    func close(_ reason: StreamConnection.CloseReason)
}

/// The result of a write.
enum StreamWrite {
    case accepted(Int)
    case failed(Int32)
}

/// Sends a stream over a duplicate of a socket that libmicrohttpd no longer uses. This object owns and closes the
/// duplicate.
final class SocketOutlet: StreamOutlet {
    let descriptor: Int32
    private(set) var slot: UInt32 = 0
    private let loop: Loop
    private var source: SourceID?

    init(descriptor: Int32, loop: Loop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Watches the socket with edge-triggered epoll. The socket is registered once, so that a blocked write needs no
    /// further system call. The cost is one unneeded event at the start.
    func watch(_ connection: StreamConnection) throws(ServerError) {
        let events = EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        let source = try loop.watch(descriptor, for: events, connection)
        self.source = source
        slot = source.slot
    }

    func write(_ bytes: ArraySlice<UInt8>) -> StreamWrite {
        let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
        let code = errno
        loop.delivery.statistics.sendCalls &+= 1
        guard sent < 0 else {
            loop.delivery.statistics.bytesSent &+= UInt64(sent)
            return .accepted(sent)
        }
        return code == EAGAIN || code == EWOULDBLOCK || code == EINTR ? .accepted(0) : .failed(code)
    }

    func wake() {}

    func close(_ reason: StreamConnection.CloseReason) {
        // Closing the last descriptor of the socket also removes it from epoll. If the stream is closed while it opens,
        // the library closes the last descriptor soon after, and the loop ignores events of a displaced source.
        if let source { loop.displace(source) }
        source = nil
        Glibc.close(descriptor)
    }
}
