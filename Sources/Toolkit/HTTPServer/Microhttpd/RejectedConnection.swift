internal import CLinux
import Glibc

/// A connection that is rejected because of a connection limit of the server. This object waits briefly for the request
/// line, so that the error response has the format of the requested route (``RouteOptions/refusal``). Some clients
/// never reconnect after a 503 response in another format.
final class RejectedConnection: LoopSource {
    private let descriptor: Int32
    private let loop: Loop
    private let longest: Int
    /// Called once with the received part of the request line, which may be incomplete or empty. The closure must close
    /// the descriptor.
    private let onLine: ([UInt8]) -> Void
    private var line: [UInt8] = []
    private var source: SourceID?
    private var timer: LoopTimer?
    private var isOver = false

    /// Starts to wait for the request line. The caller must not close the descriptor before `onLine` is called.
    ///
    /// - Parameter longest: the maximum number of bytes of the request line to wait for.
    static func begin(
        descriptor: Int32, loop: Loop, longest: Int, deadline: Duration, onLine: @escaping ([UInt8]) -> Void
    ) {
        let client = RejectedConnection(descriptor: descriptor, loop: loop, longest: longest, onLine: onLine)
        do {
            let events = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            client.source = try loop.watch(descriptor, for: events, client)
        } catch {
            return client.finish()
        }
        client.timer = loop.schedule(after: deadline) { client.finish() }
    }

    private init(descriptor: Int32, loop: Loop, longest: Int, onLine: @escaping ([UInt8]) -> Void) {
        self.descriptor = descriptor
        self.loop = loop
        self.longest = longest
        self.onLine = onLine
    }

    func ready(_ events: UInt32) {
        guard !isOver else { return }
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
            while true {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Socket.sendFlags)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                guard count > 0 else { return finish() }
                line += buffer.prefix(count)
                if line.count >= longest || line.contains(0x0A) { return finish() }
            }
        }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        if let source { loop.unwatch(source, descriptor: descriptor) }
        timer?.cancel()
        onLine(Array(line.prefix { $0 != 0x0D && $0 != 0x0A }))
    }
}

extension RejectedConnection: @unchecked Sendable {}  // Safe to share: used by its loop's thread only.
