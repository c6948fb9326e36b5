internal import CLinux
import Glibc

/// The socket of a client that waits for a deferred response, after libmicrohttpd has dropped the connection. The
/// descriptor is a duplicate that this object owns and closes.
///
/// While the client waits, this object watches only for the end of the connection. If the client sends its next request
/// early, the bytes stay in the socket until the library has the connection again.
final class DeferredSocket {
    let descriptor: Int32
    let reply: DeferredResponse
    /// The number of request bytes received on the connection so far.
    let received: UInt64
    /// True when the connection is to be closed after the response.
    let isLast: Bool
    private unowned let core: ServerCore
    private var source: SourceID?
    private(set) var isOver = false
    private var unsent: ArraySlice<UInt8> = []
    private var stallTimer: LoopTimer?

    init(descriptor: Int32, reply: DeferredResponse, received: UInt64, isLast: Bool, core: ServerCore) {
        self.descriptor = descriptor
        self.reply = reply
        self.received = received
        self.isLast = isLast
        self.core = core
    }

    /// Watches the socket with edge-triggered epoll, for the end of the connection and the given events. If the
    /// connection has already ended, the event arrives immediately.
    func watch(also events: UInt32 = 0) throws(ServerError) {
        source = try core.loop.watch(descriptor, for: events | EPOLLRDHUP.rawValue | EPOLLET.rawValue, self)
    }

    private func unwatch() {
        if let source { core.loop.unwatch(source, descriptor: descriptor) }
        source = nil
    }

    func answer() { core.answered(self) }

    /// Sends a response and then returns the connection to the library for the next request.
    func send(_ head: [UInt8], _ body: UnsafeRawBufferPointer) {
        let sent = head.withUnsafeBytes { Socket.send(descriptor, $0, body) }
        if sent == head.count + body.count { return returnSocket() }
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
        if unsent.isEmpty { returnSocket() }
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

    /// Stops watching the socket and returns the connection to the library. If this object continued to watch the
    /// socket, it and the library would both handle the end of the connection.
    private func returnSocket() {
        core.returnSocket(self, leave())
    }

    /// Stops watching the descriptor and transfers its ownership to the caller.
    func leave() -> Int32 {
        end()
        reply.setPlace(in: .over)
        return descriptor
    }

    func close() {
        guard !isOver else { return }
        end()
        Glibc.close(descriptor)
        core.released(self)
        reply.disconnected()
    }

    private func end() {
        isOver = true
        unwatch()
        stallTimer?.cancel()
        unsent = []
    }
}

extension DeferredSocket: @unchecked Sendable {}  // Safe to share: used by its loop's thread only.

extension DeferredSocket: LoopSource {
    func ready(_ events: UInt32) {
        guard !isOver else { return }
        guard events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) == 0 else { return close() }
        if events & EPOLLOUT.rawValue != 0 { sendRest() }
    }
}
