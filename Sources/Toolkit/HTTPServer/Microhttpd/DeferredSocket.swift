internal import CLinux
import Glibc

/// The socket of a client that waits for deferred responses. This object owns the descriptor and closes it. The loop
/// watches the descriptor from the first deferred response until the object ends.
///
/// For each further request, the object lends the descriptor to libmicrohttpd. If the response to that request is
/// deferred too, the library drops the connection without closing the descriptor (``LentDescriptors``), and the client
/// waits on this object again. A client that polls again and again therefore costs no registration with epoll and no
/// duplicate of its descriptor. After any other request, the library owns the descriptor and keeps the connection.
final class DeferredSocket {
    private enum State {
        /// The client waits for a response.
        case waiting
        /// The response was sent, and the client has not sent its next request.
        case idle
        /// The library owns the descriptor and reads from it.
        case lent
        case over
    }

    let descriptor: Int32
    /// The address at the other end of the connection.
    let address: RemoteAddress
    /// The response for which the client waits; nil while the object is idle or lent.
    private(set) var reply: DeferredResponse?
    /// The number of request bytes received on the connection so far.
    private(set) var received: UInt64 = 0
    /// True when the connection is to be closed after the response.
    private(set) var isLast = false
    /// The place of this object in ``ServerCore/deferredSockets``.
    var index = 0
    /// The number of the round in which this object became idle; see ``ServerCore/idleRound``.
    var idleRound: UInt64 = 0
    private unowned let core: ServerCore
    private var state = State.lent
    /// True when bytes have arrived since the library read the last request. They stay in the socket.
    private(set) var hasInput = false
    private var source: SourceID?
    private var unsent: ArraySlice<UInt8> = []
    private var stallTimer: LoopTimer?

    init(descriptor: Int32, address: RemoteAddress, core: ServerCore) {
        self.descriptor = descriptor
        self.address = address
        self.core = core
    }

    var isIdle: Bool { state == .idle }
    var isLent: Bool { state == .lent }
    var isOver: Bool { state == .over }

    /// Watches the socket with edge-triggered epoll, for input, the end of the connection, and the given events. If
    /// there is input, or the connection has already ended, the event arrives immediately.
    func watch(also events: UInt32 = 0) throws(ServerError) {
        let events = events | EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        source = try core.loop.watch(descriptor, for: events, self)
    }

    private func unwatch() {
        if let source { core.loop.unwatch(source, descriptor: descriptor) }
        source = nil
    }

    /// Begins to wait for a response. The library has read `received` bytes on the connection.
    func wait(for reply: DeferredResponse, received: UInt64, isLast: Bool) {
        self.reply = reply
        self.received = received
        self.isLast = isLast
        state = .waiting
    }

    func answer() { core.answered(self) }

    /// Sends a response. The connection then waits for the next request.
    func send(_ head: [UInt8], _ body: UnsafeRawBufferPointer) {
        let sent = head.withUnsafeBytes { Socket.send(descriptor, $0, body) }
        if sent == head.count + body.count { return responseSent() }
        guard sent >= 0 || errno == EAGAIN || errno == EINTR else { return close() }
        unsent = (head + body)[max(0, sent)...]
        sendRestWhenWritable()
    }

    private func sendRestWhenWritable() {
        unwatch()
        do {
            try watch(also: EPOLLOUT.rawValue)
        } catch {
            return close()
        }
        watchForStall()
    }

    private func sendRest() {
        guard !unsent.isEmpty else { return }
        let sent = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
        guard sent >= 0 else {
            if errno != EAGAIN, errno != EINTR { close() }
            return
        }
        unsent = unsent.dropFirst(sent)
        if unsent.isEmpty { responseSent() }
    }

    /// Closes the connection when the client has read nothing of the response for
    /// ``ServerOptions/Deadlines/replyIdle``.
    private func watchForStall() {
        let left = unsent.count
        stallTimer = core.loop.schedule(after: core.options.deadlines.replyIdle) { [weak self] in
            guard let self, !unsent.isEmpty else { return }
            unsent.count == left ? close() : watchForStall()
        }
    }

    private func responseSent() {
        stallTimer?.cancel()
        stallTimer = nil
        unsent = []
        reply?.setPlace(in: .over)
        reply = nil
        state = .idle
        core.responseSent(on: self)
    }

    /// Lends the descriptor to the library for the next request.
    func lend() {
        state = .lent
        hasInput = false
    }

    /// Stops watching the descriptor and transfers its ownership to the caller.
    func leave() -> Int32 {
        end()
        reply?.setPlace(in: .over)
        reply = nil
        return descriptor
    }

    func close() {
        guard !isOver else { return }
        core.remove(self)
        end()
        Glibc.close(descriptor)
        reply?.disconnected()
        reply = nil
        core.removed()
    }

    /// Leaves the lent descriptor to the library.
    func giveUp() {
        if isLent { end() }
    }

    private func end() {
        state = .over
        unwatch()
        stallTimer?.cancel()
        unsent = []
    }
}

extension DeferredSocket: @unchecked Sendable {}  // Safe to share: used by its loop's thread only.

extension DeferredSocket: LoopSource {
    func ready(_ events: UInt32) {
        let hasFailed = events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
        let hasEnded = hasFailed || events & EPOLLRDHUP.rawValue != 0
        switch state {
        case .waiting:
            guard !hasEnded else { return close() }
            if events & EPOLLIN.rawValue != 0 { hasInput = true }
            if events & EPOLLOUT.rawValue != 0 { sendRest() }
        case .idle:
            guard !hasFailed else { return close() }
            // The client may have sent a request before the end of the connection. The end is reported only once, so the
            // library gets the socket itself, and a further deferred response registers it again.
            if hasEnded {
                core.returnSocket(self)
            } else if events & EPOLLIN.rawValue != 0 {
                core.lend(self)
            }
        case .lent:
            // The request has further parts, or the client has closed its side of the connection: the library keeps the
            // connection.
            if hasEnded || events & EPOLLIN.rawValue != 0 { core.peers[descriptor]?.endLoan(hasEnded: hasEnded) }
        case .over: break
        }
    }
}
