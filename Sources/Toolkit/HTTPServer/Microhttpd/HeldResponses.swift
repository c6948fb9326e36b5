internal import CLinux
internal import CMicrohttpd
import Glibc
import Logging

/// The short responses of this iteration of the loop, which are not yet sent.
///
/// Waking a client process on the same machine costs as much as sending the response. The loop therefore sends the
/// responses of an iteration one after the other at its end, and after the events of the iteration. The library would
/// send a response while its request is being handled, and would copy each header field. Therefore this server formats
/// a short response itself, and passes a placeholder to the library: an empty response, whose end is the end of the
/// request. This file supplies the functions `send` and `sendmsg`, which the library calls through the dynamic linker.
/// They drop the placeholder.
///
/// The library regards a held response as sent. A response is therefore held only if the socket will accept all of it:
/// the response is short, and so is what the client has not acknowledged (``HTTPConnection/willAccept(_:)``). The
/// response to a detached request (``ServerCore/detach(_:)``) is always held. If the socket does not accept all of it,
/// the connection ends.
struct HeldResponses {
    /// True when the library calls the `send` of this file. Otherwise no response is held. `Package.swift` determines
    /// whether the linker exports a program's `send`.
    fileprivate static let isPossible: Bool = {
        let own: @convention(c) (Int32, UnsafeRawPointer?, Int, Int32) -> Int = sendBytes
        return dlsym(nil, "send") == unsafeBitCast(own, to: UnsafeMutableRawPointer.self)
    }()
    /// The maximum number of responses.
    fileprivate static let mostResponses = 32
    /// The maximum number of bytes of one response.
    fileprivate static let mostBytes = HTTPConnection.acceptedBytes
    /// The maximum size in bytes of a short response, with its header; see
    /// ``Handler/Reply/after(_:isShort:conclude:)``.
    fileprivate static let shortBytes = 1024

    /// The responses in the order in which they were made. `end` is the index after the response's last byte.
    fileprivate var responses: [(peer: HTTPConnection, end: Int)] = []
    fileprivate var bytes: [UInt8] = []
}

/// An empty response of the library, which any number of requests may have.
private struct Placeholder: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the library counts the references to a response under a lock.

    static let response = Placeholder(isLast: false)
    /// After this response, the library closes the connection.
    static let lastResponse = Placeholder(isLast: true)

    /// Nil when there was not enough memory.
    let response: OpaquePointer?

    private init(isLast: Bool) {
        response = shim_make_response(0, nil, 0)
        if let response, isLast { MHD_add_response_header(response, "Connection", "close") }
    }
}

extension ServerCore {
    /// Holds a response until the end of the iteration, and passes a placeholder to the library. Returns nil, and does
    /// nothing, if the response cannot be held.
    func hold(
        _ response: Response, _ body: UnsafeRawBufferPointer, of exchange: Exchange, closing: Bool
    ) -> MHD_Result? {
        // The library knows how to end a connection of HTTP/1.0, and omits the `Content-Length` of a 304 response.
        guard HeldResponses.isPossible, !isSecure, !exchange.isHTTP10, response.status != 304, let head = exchange.head
        else { return nil }
        let capacity =
            HeadWriter.capacity(for: response.headers) + HeadWriter.capacity(forEndWith: head.id) + body.count
        let isLast = closing || head.wantsClose
        let placeholder = isLast ? Placeholder.lastResponse : Placeholder.response
        let peer = exchange.peer
        if peer.hasHeldResponse || held.responses.count == HeldResponses.mostResponses { sendHeldResponses() }
        guard capacity <= HeldResponses.mostBytes, peer.willAccept(capacity), let placeholder = placeholder.response,
            MHD_queue_response(exchange.connection, 200, placeholder) == .YES
        else { return nil }
        peer.hasPlaceholder = true
        write(response, body, of: exchange, head, capacity: capacity, isLast: isLast)
        return .YES
    }

    /// Adds a response to the held responses.
    private func write(
        _ response: Response, _ body: UnsafeRawBufferPointer, of exchange: Exchange, _ head: Request.Head,
        capacity: Int, isLast: Bool
    ) {
        let date = date.updated().text
        let written = held.bytes.append(capacity: capacity) {
            $0.begin(status: response.status, date: date, closing: isLast)
            $0.write(response.headers)
            $0.end(requestID: head.id, contentLength: response.status == 204 ? nil : body.count)
            if head.method != .head { $0.write(body) }
        }
        if written.hasDroppedFields { logDroppedFields(of: exchange) }
        held.responses.append((exchange.peer, held.bytes.count))
        exchange.peer.hasHeldResponse = true
    }

    /// Sends the held responses.
    func sendHeldResponses() {
        guard !held.responses.isEmpty else { return }
        var responses: [(peer: HTTPConnection, end: Int)] = []
        var bytes: [UInt8] = []
        swap(&responses, &held.responses)
        swap(&bytes, &held.bytes)
        bytes.withUnsafeBytes { bytes in
            var start = 0
            for (peer, end) in responses {
                peer.hasHeldResponse = false
                peer.send(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
        guard held.responses.isEmpty else { return }
        // The memory is used again.
        responses.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        swap(&responses, &held.responses)
        swap(&bytes, &held.bytes)
    }

    /// Returns true if the bytes that the library sends are a placeholder. For all other bytes, first sends the held
    /// response of the same connection, which precedes them.
    fileprivate func isPlaceholder(on descriptor: Int32) -> Bool {
        guard let peer = peers[descriptor] else { return false }
        if peer.hasPlaceholder { return true }
        if peer.hasHeldResponse { sendHeldResponses() }
        peer.forgetUnacknowledged()
        return false
    }
}

// MARK: - Detached requests

extension ServerCore {
    /// Lets the library regard a request as complete before its response is known. The library gets a placeholder, and
    /// ``send(_:ofDetached:)`` later sends the response. A suspended connection would cost three more system calls.
    ///
    /// Until the response is sent, the library cannot read the next request (``refuseInput(of:)``).
    ///
    /// Returns false if the request must be suspended instead:
    ///
    /// - The library does not call the `recv` and the `send` of this program, or the connection is encrypted.
    /// - The connection ends with this request, or the server is draining.
    /// - The request has the method `HEAD` or uses HTTP/1.0.
    /// - The library may have read bytes of the next request. This is unknown for connections with long headers, and
    ///   after a chunked body.
    /// - The socket may not accept a short response.
    /// - The library has not enough memory for the placeholder.
    func detach(_ exchange: Exchange) -> Bool {
        let peer = exchange.peer
        guard HeldResponses.isPossible, !isSecure, !isDraining, !exchange.isHTTP10, let head = exchange.head,
            head.method != .head, !head.wantsClose, peer.countedBytes == peer.received,
            peer.mayAccept(HeldResponses.shortBytes), let placeholder = Placeholder.response.response,
            MHD_queue_response(exchange.connection, 200, placeholder) == .YES
        else { return false }
        peer.hasPlaceholder = true
        detachedRequests += 1
        return true
    }

    /// Records that a detached request has its response, or that its connection has ended.
    func detachedEnded() { detachedRequests -= 1 }

    /// Holds the response to a detached request until the end of the iteration.
    func send(_ response: Response, ofDetached exchange: Exchange) {
        let peer = exchange.peer
        detachedEnded()
        peer.exchange = nil
        guard !peer.isSilenced, let head = exchange.head else { return }
        guard response.body.isWhole else {
            logger.error("ended a connection: the response to a detached request is not in memory")
            return peer.cut()
        }
        if peer.hasHeldResponse || held.responses.count == HeldResponses.mostResponses { sendHeldResponses() }
        response.body.withWholeBytes { body in
            counters.bodyBytesSent += UInt64(body.count)
            let capacity =
                HeadWriter.capacity(for: response.headers) + HeadWriter.capacity(forEndWith: head.id) + body.count
            // The smallest possible buffer may not hold the response. The actual one is usually larger.
            if !peer.willAccept(capacity) { peer.forgetUnacknowledged() }
            write(response, body, of: exchange, head, capacity: capacity, isLast: isDraining)
        }
        move(peer, to: .idle)  // Ends the connection if the server is draining.
        if peer.hasRefusedInput { connectionsWithInput.append(peer) }
        peer.hasRefusedInput = false
    }

    /// Leaves the client's bytes in the socket. Returns -1 with `errno` EAGAIN, as `recv` does if nothing has arrived.
    /// If the client has closed its side and no bytes are left, also informs the exchange.
    func refuseInput(of exchange: Exchange) -> Int {
        let peer = exchange.peer
        peer.hasRefusedInput = true
        var byte: UInt8 = 0
        if recvfrom(peer.descriptor, &byte, 1, Socket.peek | Socket.sendFlags, nil, nil) == 0 { exchange.clientLeft() }
        errno = EAGAIN
        return -1
    }

    /// Lets the library read the requests that it was not allowed to read. It would otherwise read a socket only when
    /// more bytes arrive. Suspending and resuming a connection registers its socket with epoll again.
    func acceptInput() {
        guard !connectionsWithInput.isEmpty else { return }
        for peer in connectionsWithInput where peers[peer.descriptor] === peer && peer.exchange == nil {
            MHD_suspend_connection(peer.connection)
            MHD_resume_connection(peer.connection)
        }
        connectionsWithInput.removeAll()
        wakeLibrary()
    }
}

/// Replaces the C library's `send` for the whole program; see ``HeldResponses``.
@c(send)
public func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ size: Int, _ flags: Int32) -> Int {
    if let core = MHDErrorPages.runningCore, core.isPlaceholder(on: descriptor) { return size }
    return sendto(descriptor, bytes, size, flags, nil, 0)
}

/// Replaces the C library's `sendmsg` for the whole program; see ``HeldResponses``.
@c(sendmsg)
public func sendMessage(_ descriptor: Int32, _ message: UnsafeRawPointer?, _ flags: Int32) -> Int {
    if let core = MHDErrorPages.runningCore, core.isPlaceholder(on: descriptor) {
        let header = message?.assumingMemoryBound(to: msghdr.self).pointee
        return UnsafeBufferPointer(start: header?.msg_iov, count: header.map { Int($0.msg_iovlen) } ?? 0)
            .reduce(0) { $0 + $1.iov_len }
    }
    return shim_send_message(descriptor, message, flags)
}
