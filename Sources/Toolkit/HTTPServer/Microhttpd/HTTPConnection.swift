internal import CLinux
internal import CMicrohttpd
import Glibc
import Locking

/// One HTTP connection while libmicrohttpd owns it.
final class HTTPConnection {
    /// The current activity of a connection, which determines its deadline.
    enum Phase {
        /// The line and header of a request are being read.
        case header
        /// The connection is open between two requests.
        case idle
        /// The body of a request is being read.
        case body
        /// A response is being written.
        case reply
        /// The server is processing the request. This phase has no deadline.
        case working
    }

    unowned let core: ServerCore
    let connection: OpaquePointer
    let descriptor: Int32
    let address: RemoteAddress
    /// The current phase. Set only by ``ConnectionQueues``.
    var phase = Phase.working
    var deadline = MonotonicTime(nanoseconds: .max)
    var previous: Unmanaged<HTTPConnection>?
    var next: Unmanaged<HTTPConnection>?

    /// The current request; `nil` between requests. Set to `nil` when the request ends.
    var exchange: Exchange?
    /// The live stream on this connection, if the library sends the stream; `nil` otherwise.
    var stream: StreamConnection?
    /// True when this server has ended the connection or duplicated its socket. Nothing more may be sent through this
    /// object.
    var isSilenced = false
    /// True when the client has closed its side of the connection, even if no request was in progress at that time.
    /// Known only after ``watch()``.
    private(set) var hasEnded = false
    /// The number of request bytes received on the connection, including the current request.
    var received: UInt64
    /// True when the connection has enough memory for long headers; see ``LongHeaders``.
    let hasLongHeaders: Bool
    /// The bytes of a header that did not arrive as a whole; see ``LongHeaders``.
    var partialHeader: [UInt8] = []
    /// The socket that has lent this connection its descriptor, and watches it; nil for any other connection.
    var lender: DeferredSocket?
    /// True when the library must not close the descriptor, because the lender has taken it back.
    var isReturned = false
    /// The number of bytes that the library has read from the socket, including earlier requests. Nil when they are not
    /// counted: the connection is encrypted or has long headers, or the library does not call this program's `recv`.
    var countedBytes: UInt64?
    /// True if `recv` has reported no input to the library while a detached request waited for its response.
    var hasRefusedInput = false
    /// True while the current request has a placeholder as its response in the library; see ``HeldResponses``.
    var hasPlaceholder = false
    /// True while ``HeldResponses`` contains a response of this connection.
    var hasHeldResponse = false
    /// An upper bound for the memory, in bytes, that the kernel uses for what the client has not acknowledged.
    /// `Int.max` while nothing is known about it.
    private var unacknowledged = Int.max
    private var source: SourceID?
    private var lastAcknowledged: UInt64 = 0

    init(core: ServerCore, connection: OpaquePointer, descriptor: Int32, incoming: IncomingConnection) {
        self.core = core
        self.connection = connection
        self.descriptor = descriptor
        address = incoming.address
        received = incoming.received
        hasLongHeaders = incoming.hasLongHeaders
        lender = incoming.lender
        if LongHeaders.isPossible, !core.isSecure, !hasLongHeaders { countedBytes = incoming.received }
    }

    /// True until the header of the next or current request is complete.
    var isReadingHeader: Bool { exchange.map { !$0.hasBegun } ?? true }

    /// Watches for the end of the connection, because the library does not watch a suspended connection. The event is
    /// edge-triggered and registered at the first suspension, so further requests cost nothing. If the client has
    /// already closed its side, the event arrives immediately.
    ///
    /// A lender already watches the socket, and reports the end of the connection.
    func watch() throws(ServerError) {
        guard lender == nil, source == nil else { return }
        let events = EPOLLRDHUP.rawValue | EPOLLET.rawValue
        source = try core.loop.watch(descriptor, for: events, self)
    }

    func unwatch() {
        if let source { core.loop.unwatch(source, descriptor: descriptor) }
        source = nil
    }

    /// Keeps the descriptor for the library, because more bytes have arrived or the client has closed its side of the
    /// connection. From then on, this object watches the socket itself, because its request may be suspended.
    func endLoan(hasEnded: Bool) {
        core.reclaim(from: self)?.giveUp()
        hasEnded ? ready(EPOLLRDHUP.rawValue) : core.watch(self)
    }

    /// The size of one response that a socket accepts if the client has acknowledged everything else. This is the
    /// smallest buffer that Linux allows (`tcp_wmem`).
    static let acceptedBytes = 4096
    /// The memory that the kernel needs for a response besides its bytes, and counts as part of the buffer.
    private static let overhead = 1024

    /// Returns true if the socket will accept a response of this size, whatever the client reads. The caller may then
    /// send up to this number of bytes.
    ///
    /// The kernel is asked only if the responses since the last question could fill the smallest buffer.
    func willAccept(_ count: Int) -> Bool {
        guard mayAccept(count) else { return false }
        unacknowledged += count + Self.overhead
        return true
    }

    /// Returns true if ``willAccept(_:)`` would, without counting the response as sent.
    func mayAccept(_ count: Int) -> Bool {
        guard unacknowledged > Self.acceptedBytes - count - Self.overhead else { return true }
        guard Socket.hasSentEverything(descriptor) else { return false }
        unacknowledged = 0
        return true
    }

    /// Marks the unacknowledged memory as unknown, because bytes follow that are not counted.
    func forgetUnacknowledged() { unacknowledged = .max }

    /// Sends a response that the library regards as sent. Ends the connection if the socket does not accept all bytes,
    /// which happens if the connection has failed or the kernel is short of memory.
    func send(_ response: UnsafeRawBufferPointer) {
        let sent = sendto(descriptor, response.baseAddress, response.count, Socket.sendFlags, nil, 0)
        if sent < response.count { cut() }
    }

    /// Shuts the socket down. The library then detects the end of the connection and closes it.
    func cut() {
        core.sendHeldResponses()
        isSilenced = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends the connection when called by a content reader, the callback that supplies body bytes to the library.
    /// Returns the value that the content reader must return.
    ///
    /// The function returns one byte. The library cannot send the byte and therefore closes the connection. The library
    /// also has return codes for this purpose, but they are not used. After such a code, the library never closes a
    /// connection that was not writing at that moment.
    func endInReader(_ buffer: UnsafeMutablePointer<CChar>) -> Int {
        cut()
        buffer[0] = 0x20
        return 1
    }

    /// Sends a response if the connection is not encrypted, then ends the connection. Call it only while the library is
    /// writing nothing.
    func cut(saying reply: [UInt8]) {
        if !core.isSecure {
            core.sendHeldResponses()
            // The response is lost if the socket's buffer is full.
            _ = reply.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
        }
        cut()
    }

    /// Returns true if the client has acknowledged at least 1024 bytes since the last call.
    func hasTakenMore() -> Bool {
        let acknowledged = shim_tcp_bytes_acked(descriptor)
        defer { lastAcknowledged = acknowledged }
        return acknowledged &- lastAcknowledged >= 1024
    }

    /// True when the client has sent anything since it connected.
    var hasSentAnything: Bool { shim_tcp_bytes_received(descriptor) > 0 }

    /// True when libmicrohttpd may have read bytes after the end of the current request.
    var hasReadAhead: Bool { (countedBytes ?? readBytes) != received }

    /// The number of bytes that were read from the socket; nil when it is unknown.
    var readBytes: UInt64? {
        // The number of read bytes is the difference between the received and the unread bytes. If bytes arrive while
        // the two numbers are read, the difference is wrong, and both are read again. The bytes stop arriving soon,
        // because the kernel's buffer is limited and nothing is read from it in the meantime. The number of attempts is
        // limited in case they do not.
        for _ in 0..<1000 {
            let arrived = shim_tcp_bytes_received(descriptor)
            var unread: Int32 = 0
            guard ioctl(descriptor, UInt(FIONREAD), &unread) == 0 else { return nil }
            if shim_tcp_bytes_received(descriptor) == arrived { return arrived &- UInt64(unread) }
        }
        return nil
    }

    /// True when no byte has been sent to the client.
    var hasReceivedNothing: Bool { shim_tcp_has_said_nothing(descriptor) != 0 }
}

extension HTTPConnection: LoopSource {
    /// Handles a client that has closed its side of the connection, or the whole connection.
    func ready(_ events: UInt32) {
        hasEnded = true
        stream?.close(.peerDisconnected)
        exchange?.clientLeft()
    }
}

/// The connections that the library owns, by descriptor. Descriptors are small numbers, so no hash is needed.
struct ConnectionTable {
    private var slots: [HTTPConnection?] = []
    /// The number of connections.
    private(set) var count = 0

    /// All connections, in the order of their descriptors.
    var all: [HTTPConnection] { slots.compactMap(\.self) }

    subscript(descriptor: Int32) -> HTTPConnection? {
        get { slots.indices.contains(Int(descriptor)) ? slots[Int(descriptor)] : nil }
        set {
            let index = Int(descriptor)
            if index >= slots.count { slots.append(contentsOf: repeatElement(nil, count: index + 1 - slots.count)) }
            count += (newValue == nil ? 0 : 1) - (slots[index] == nil ? 0 : 1)
            slots[index] = newValue
        }
    }
}

/// The data about a socket that is being passed to the library.
struct IncomingConnection {
    var address: RemoteAddress
    /// The number of request bytes that the connection has received so far.
    var received: UInt64 = 0
    var hasLongHeaders = false
    /// The socket whose descriptor was duplicated for the library.
    var lender: DeferredSocket?
}
