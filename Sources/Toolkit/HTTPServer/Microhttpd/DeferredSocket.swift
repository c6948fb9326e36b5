internal import CLinux
import Glibc

/// The socket of a client that waits for a late answer, while libmicrohttpd has forgotten it: a duplicate, ours to close.
///
/// Only its end is watched for. What the client may send meanwhile (a next request, ahead of time) stays in the socket
/// and is read when the library has the connection again.
final class DeferredSocket {
    let descriptor: Int32
    let reply: DeferredResponse
    /// How many bytes of requests the connection has carried.
    let received: UInt64
    /// Whether the connection ends with the answer.
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

    /// Edge-triggered, and told at once of an end that came before.
    func watch(also events: UInt32 = 0) throws(ServerError) {
        source = try core.loop.watch(descriptor, for: events | EPOLLRDHUP.rawValue | EPOLLET.rawValue, self)
    }

    private func unwatch() {
        if let source { core.loop.unwatch(source, descriptor: descriptor) }
        source = nil
    }

    func answer() { core.answered(self) }

    /// Says an answer, of which the connection goes on with the next request.
    func send(_ head: [UInt8], _ body: UnsafeRawBufferPointer) {
        let sent = head.withUnsafeBytes { Socket.send(descriptor, $0, body) }
        if sent == head.count + body.count { return giveBack() }
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
        if unsent.isEmpty { giveBack() }
    }

    /// A client that takes nothing of its answer for the time an answer may stand still is cut.
    private func watchForStall() {
        let left = unsent.count
        stallTimer = core.loop.schedule(after: core.options.deadlines.replyIdle) { [weak self] in
            guard let self, !unsent.isEmpty else { return }
            unsent.count == left ? close() : watchForStall()
        }
    }

    /// The library must be the only one that watches it, or an end would be noticed twice.
    private func giveBack() {
        core.giveBack(self, leave())
    }

    /// Gives the descriptor up, watched by nobody.
    func leave() -> Int32 {
        end()
        reply.settle(in: .over)
        return descriptor
    }

    func close() {
        guard !isOver else { return }
        end()
        Glibc.close(descriptor)
        core.released(self)
        reply.gone()
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
