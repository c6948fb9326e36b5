import CLinux
import Glibc
import Locking

/// An address that this process has bound but does not listen on yet. No other process can bind the address, and the
/// kernel refuses connections to it. If a program first reserves its address, a second instance of the program fails
/// immediately, before it does any other work.
public final class ReservedAddress: Sendable {
    /// The descriptor of the bound socket; -1 after it was passed to a server.
    private let descriptor: Lock<Int32>
    let endpoint: SocketAddress
    private let text: String

    /// Reserves an address by binding a socket to it.
    ///
    /// - Throws: ``ServerError/addressInUse(_:)`` with host and port if another process uses the address, or another
    ///   ``ServerError``.
    public init(host: String, port: UInt16) throws(ServerError) {
        endpoint = try SocketAddress(host: host, port: port)
        text = endpoint.text(port: port)
        let descriptor = socket(
            endpoint.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ServerError.last("socket") }
        Socket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // Turning `IPV6_V6ONLY` off makes the IPv6 wildcard address accept IPv4 connections as well.
        if endpoint.family == AF_INET6 { Socket.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        guard endpoint.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
            let error = Self.failure("bind", text)
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = Lock(descriptor)
    }

    deinit {
        let descriptor = descriptor.withLock { $0 }
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Starts to listen and returns the descriptor. The caller must close the descriptor.
    func listen(backlog: Int32) throws(ServerError) -> Int32 {
        let taken = descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        precondition(taken >= 0, "the server can listen on a reserved address only once")
        guard Glibc.listen(taken, backlog) == 0 else {
            // If two processes have reserved the same address, only the first process that listens succeeds.
            let error = Self.failure("listen", text)
            Glibc.close(taken)
            throw error
        }
        return taken
    }

    private static func failure(_ call: String, _ address: String) -> ServerError {
        errno == EADDRINUSE ? .addressInUse(address) : .last(call)
    }
}

/// The reason why a server or a loop could not start.
public enum ServerError: Error, Sendable, CustomStringConvertible {
    /// Another program uses the address: host and port.
    case addressInUse(String)
    /// A system call failed with this `errno`.
    case system(call: String, code: Int32)
    /// The host is neither an IP address nor `localhost`.
    case unknownHost(String)
    /// A certificate or key file cannot be read.
    case unreadableFile(path: String, code: Int32)
    /// The certificate or the key cannot be used. The value is the TLS library's message.
    case tls(String)
    /// libmicrohttpd did not start. The value is its last log message.
    case daemon(String)

    /// A sentence about the error, for the operator.
    public var description: String {
        switch self {
        case .addressInUse(let address):
            "another program listens on \(address) already; stop that program, or choose another address"
        case .system(let call, let code): "\(call) failed: \(Self.text(of: code))"
        case .unknownHost(let host): "'\(host)' must be an IP address or 'localhost'"
        case .unreadableFile(let path, let code): "\(path) cannot be read: \(Self.text(of: code))"
        case .tls(let words): "the certificate or the key cannot be used: \(words)"
        case .daemon(let words): "libmicrohttpd did not start: \(words)"
        }
    }
}
