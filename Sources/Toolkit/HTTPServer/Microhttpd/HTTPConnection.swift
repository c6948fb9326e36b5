internal import CLinux
internal import CMicrohttpd
import Glibc

/// One HTTP connection, as long as libmicrohttpd has it.
final class HTTPConnection {
    /// What it is doing, which decides how long it may take.
    enum Phase: Int, CaseIterable {
        /// A request's line and header are being read.
        case header
        /// Open, between two requests.
        case idle
        /// A request's body is being read.
        case body
        /// An answer is being written.
        case reply
        /// We are at work: no deadline.
        case working
    }

    unowned let core: ServerCore
    let connection: OpaquePointer
    let descriptor: Int32
    let address: RemoteAddress
    /// Set by ``ConnectionQueues`` only.
    fileprivate(set) var phase = Phase.working
    var deadline = MonotonicTime(nanoseconds: .max)
    var previous: Unmanaged<HTTPConnection>?
    var next: Unmanaged<HTTPConnection>?

    /// The request that is under way; let go in its completion callback, which always comes.
    var exchange: Exchange?
    /// The stream it has become, when the library carries that.
    var stream: StreamConnection?
    /// We have cut it or taken its socket over; nothing more is to be said on it.
    var isSilenced = false
    /// The kernel keeps what it is answered, until we say so.
    var isAnswerHeld = false
    /// The client has closed its side, perhaps while nobody was there to be told.
    private(set) var hasEnded = false
    /// How many bytes of requests the connection has carried, those of the present one included.
    var received: UInt64
    private var source: SourceID?
    private var lastAcknowledged: UInt64 = 0

    init(
        core: ServerCore, connection: OpaquePointer, descriptor: Int32, address: RemoteAddress, received: UInt64
    ) {
        self.core = core
        self.connection = connection
        self.descriptor = descriptor
        self.address = address
        self.received = received
    }

    /// A connection that waits for us is out of the library's sight, so its end is watched for here; registered once,
    /// edge-triggered, it costs nothing per request.
    func watch() throws(ServerError) {
        let events = EPOLLRDHUP.rawValue | EPOLLET.rawValue
        source = try core.loop.watch(descriptor, for: events, self)
    }

    func unwatch() {
        if let source { core.loop.unwatch(source, descriptor: descriptor) }
        source = nil
    }

    /// Ends the connection: the library sees the end of the stream and tidies up.
    func cut() {
        isSilenced = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends the connection out of a content reader, whose result it returns.
    ///
    /// The library has codes for that, but after them it forgets about a connection that was not writing just then: it
    /// stays open for good. A byte that cannot be sent makes it close.
    func endInReader(_ buffer: UnsafeMutablePointer<CChar>) -> Int {
        cut()
        buffer[0] = 0x20
        return 1
    }

    /// Says something in plain HTTP if that is possible, then ends the connection. Only while nothing is being written.
    func cut(saying reply: [UInt8]) {
        if !core.isSecure {
            // Best effort: a client that does not read gets nothing.
            _ = reply.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
        }
        cut()
    }

    /// Whether the client has taken anything worth mentioning since the last time somebody asked.
    func hasTakenMore() -> Bool {
        let acknowledged = shim_tcp_bytes_acked(descriptor)
        defer { lastAcknowledged = acknowledged }
        return acknowledged &- lastAcknowledged >= 1024
    }

    /// Whether the client has sent anything at all since it connected.
    var hasSentAnything: Bool { shim_tcp_bytes_received(descriptor) > 0 }

    /// Whether libmicrohttpd may have read more of the connection than its requests so far, and keeps that.
    var hasReadAhead: Bool {
        var unread: Int32 = 0
        guard ioctl(descriptor, UInt(FIONREAD), &unread) == 0 else { return true }
        return shim_tcp_bytes_received(descriptor) != received &+ UInt64(unread)
    }

    /// Whether not a byte has been said to the client.
    var hasHeardNothing: Bool { shim_tcp_has_said_nothing(descriptor) != 0 }
}

extension HTTPConnection: LoopSource {
    /// The client has closed its side, or both.
    func ready(_ events: UInt32) {
        hasEnded = true
        stream?.close(.peerGone)
        exchange?.clientLeft()
    }
}

/// Where every connection stands, one queue for each phase with a deadline.
struct ConnectionQueues {
    private var queues: [DeadlineQueue]

    init(_ deadlines: ServerOptions.Deadlines) {
        queues = [
            DeadlineQueue(allowance: deadlines.header), DeadlineQueue(allowance: deadlines.keepAliveIdle),
            DeadlineQueue(allowance: deadlines.bodyIdle), DeadlineQueue(allowance: deadlines.replyIdle),
        ]
    }

    /// Puts a connection into a phase, at the end of its queue, also when it is in it already.
    mutating func move(_ peer: HTTPConnection, to phase: HTTPConnection.Phase, now: MonotonicTime) {
        leave(peer)
        peer.phase = phase
        if phase != .working { queues[phase.rawValue].append(peer, now: now) }
    }

    mutating func leave(_ peer: HTTPConnection) {
        if peer.phase != .working { queues[peer.phase.rawValue].remove(peer) }
        peer.phase = .working
    }

    /// The connection that has been in this phase the longest.
    func longest(in phase: HTTPConnection.Phase) -> HTTPConnection? {
        queues[phase.rawValue].first?.takeUnretainedValue()
    }

    /// One whose time is up.
    func expired(at now: MonotonicTime) -> HTTPConnection? {
        for queue in queues {
            if let next = queue.next, next <= now { return queue.first?.takeUnretainedValue() }
        }
        return nil
    }

    /// The nearest deadline of all.
    var nextDeadline: MonotonicTime? { queues.compactMap(\.next).min() }
}

/// Connections that all have the same time to get on, in the order in which their time runs out.
///
/// Because the time is the same for all, the last one in is the last one out, and both are a matter of two pointers: no
/// heap, no allocation, however often a connection moves. The queue does not keep its members alive; they take
/// themselves out.
struct DeadlineQueue {
    private let allowance: Int64
    private(set) var first: Unmanaged<HTTPConnection>?
    private var last: Unmanaged<HTTPConnection>?

    init(allowance: Duration) {
        self.allowance = allowance.wholeNanoseconds
    }

    /// The time of the one whose turn is next.
    var next: MonotonicTime? { first?._withUnsafeGuaranteedRef { $0.deadline } }

    mutating func append(_ peer: HTTPConnection, now: MonotonicTime) {
        peer.deadline = MonotonicTime(nanoseconds: now.nanoseconds &+ allowance)
        peer.previous = last
        peer.next = nil
        let new = Unmanaged.passUnretained(peer)
        if let last {
            last._withUnsafeGuaranteedRef { $0.next = new }
        } else {
            first = new
        }
        last = new
    }

    mutating func remove(_ peer: HTTPConnection) {
        if let previous = peer.previous {
            previous._withUnsafeGuaranteedRef { $0.next = peer.next }
        } else {
            first = peer.next
        }
        if let next = peer.next {
            next._withUnsafeGuaranteedRef { $0.previous = peer.previous }
        } else {
            last = peer.previous
        }
        peer.previous = nil
        peer.next = nil
    }
}
