internal import CLinux
import Glibc

/// A socket that sends a final response and then closes the connection gracefully.
///
/// Closing a socket with unread input resets the connection. A client that is still sending a body that is too large
/// would then lose the error response (RFC 9112, 9.6). Therefore this object writes the response, shuts down its side
/// of the connection, discards further input within limits, and then closes the socket.
final class LingeringSocket: LoopSource {
    private static let discardLimit = 1024 * 1024

    private let descriptor: Int32
    private let loop: Loop
    private let onClose: () -> Void
    private var unsent: ArraySlice<UInt8>
    private var discarded = 0
    private var source: SourceID?
    private var isClosed = false

    /// Starts to send `reply` on the socket. Takes ownership of the descriptor and calls `onClose` when the socket is
    /// closed.
    static func begin(
        descriptor: Int32, loop: Loop, reply: [UInt8], deadline: Duration, onClose: @escaping () -> Void
    ) {
        let lingering = LingeringSocket(descriptor: descriptor, loop: loop, reply: reply, onClose: onClose)
        guard lingering.write() else { return lingering.close() }
        do {
            let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            lingering.source = try loop.watch(descriptor, for: events, lingering)
        } catch {
            return lingering.close()
        }
        loop.schedule(after: deadline) { lingering.close() }
    }

    private init(descriptor: Int32, loop: Loop, reply: [UInt8], onClose: @escaping () -> Void) {
        self.descriptor = descriptor
        self.loop = loop
        self.onClose = onClose
        unsent = reply[...]
    }

    func ready(_ events: UInt32) {
        guard !isClosed else { return }
        if events & EPOLLERR.rawValue != 0 || !write() || !discard() { close() }
    }

    /// Writes as many bytes as the socket accepts. Returns false when the connection has failed.
    private func write() -> Bool {
        guard !unsent.isEmpty else { return true }
        let sent = unsent.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Socket.sendFlags) }
        if sent < 0 { return errno == EAGAIN || errno == EINTR }
        unsent = unsent.dropFirst(sent)
        if unsent.isEmpty { shutdown(descriptor, Int32(SHUT_WR)) }
        return true
    }

    /// Discards received bytes. Returns false when the client has closed its side of the connection or sends too many
    /// bytes.
    private func discard() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            while discarded < Self.discardLimit {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Socket.sendFlags)
                if count < 0 { return errno == EAGAIN || errno == EINTR }
                if count == 0 { return false }
                discarded += count
            }
            return false
        }
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        Glibc.close(descriptor)
        onClose()
    }
}

extension LingeringSocket: @unchecked Sendable {}  // Safe to share: used by its loop's thread only.
