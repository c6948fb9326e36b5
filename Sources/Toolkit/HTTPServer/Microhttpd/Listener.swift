internal import CLinux
import Glibc

/// The listening socket. The server owns it instead of libmicrohttpd, so that a server at its connection limit can
/// close an idle connection or respond with 503; the library would leave new clients waiting behind idle connections.
final class Listener: LoopSource {
    private static let acceptsPerTurn = 64
    /// The pause in accepting when the process has no descriptors left.
    private static let rest = Duration.milliseconds(100)

    let address: Server.Address
    private let descriptor: Int32
    private let loop: Loop
    private let accepted: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    private let exhausted: (Int32) -> Void
    private var source: SourceID?
    private var isClosed = false

    /// - Parameters:
    ///   - accepted: takes ownership of a connected socket; returns false when no more sockets should be accepted in
    ///     this turn.
    ///   - exhausted: called with the `errno` when sockets cannot be accepted for lack of resources.
    init(
        options: ServerOptions, on claimed: ReservedAddress, loop: Loop,
        accepted: @escaping (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool,
        exhausted: @escaping (Int32) -> Void
    ) throws(ServerError) {
        self.loop = loop
        self.accepted = accepted
        self.exhausted = exhausted
        let descriptor = try claimed.listen(backlog: options.backlog)
        Socket.bound(silence: options.deadlines.silence, ofAcceptedBy: descriptor)
        self.descriptor = descriptor
        address = Server.Address(
            host: options.host.isEmpty ? claimed.endpoint.host : options.host, port: Self.port(of: descriptor))
        do {
            source = try loop.watch(descriptor, for: EPOLLIN.rawValue, self)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        Glibc.close(descriptor)
    }

    func ready(_ events: UInt32) {
        for _ in 0..<Self.acceptsPerTurn {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let goesOn = withUnsafeMutablePointer(to: &storage) { storage in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    let socket = shim_accept(descriptor, address, &length)
                    return socket < 0 ? failed(errno) : accepted(socket, address, length)
                }
            }
            guard goesOn else { return }
        }
    }

    private func failed(_ code: Int32) -> Bool {
        switch code {
        case EINTR, ECONNABORTED: return true
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            exhausted(code)
            pause()
            return false
        default: return false
        }
    }

    /// Pauses accepting. The socket stays readable while nothing can be accepted, so the loop would otherwise spin.
    private func pause() {
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        // A strong reference: the listener lives as long as its ``ServerCore``.
        loop.schedule(after: Self.rest) { [self] in resume() }
    }

    private func resume() {
        guard !isClosed, source == nil else { return }
        do {
            source = try loop.watch(descriptor, for: EPOLLIN.rawValue, self)
        } catch {
            pause()
        }
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                return SocketAddress.port(of: address)
            }
        }
    }
}

extension Listener: @unchecked Sendable {}  // Safe to share: used by its loop's thread only.
