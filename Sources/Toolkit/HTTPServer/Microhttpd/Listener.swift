internal import CLinux
import Glibc

/// The listening socket. The server owns it instead of libmicrohttpd. At the connection limit, the server can therefore
/// close an idle connection or respond with 503. The library would make new clients wait until an idle connection ends.
final class Listener: LoopSource {
    private static let acceptsPerTurn = 64
    /// The time for which no connections are accepted after the process has run out of file descriptors.
    private static let rest = Duration.milliseconds(100)

    let address: Server.Address
    private let descriptor: Int32
    private let loop: Loop
    private let accepted: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    private let exhausted: (Int32) -> Void
    private var source: SourceID?
    private var isClosed = false

    /// Starts to listen on the reserved address.
    ///
    /// - Parameters:
    ///   - accepted: called with each connected socket. Takes ownership of the socket, and returns false when no more
    ///     sockets should be accepted in this iteration of the loop.
    ///   - exhausted: called with the `errno` when a socket cannot be accepted because resources are exhausted.
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
        // Accepted sockets inherit this option. Without it, the kernel would delay the second small frame of a stream
        // until the client acknowledges the first.
        Socket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
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

    /// Stops accepting connections for a short time. Without the pause, the loop would wake continuously, because the
    /// socket stays readable while nothing can be accepted.
    private func pause() {
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        // The closure may hold a strong reference, because the listener lives as long as its ``ServerCore``.
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
