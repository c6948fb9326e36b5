import Glibc
import Locking

/// An address that this process has bound and does not listen on yet: nobody else can take it, and who connects to it is
/// refused. A program claims its address first, so that a taken one is reported before anything else is done.
public final class ReservedAddress: Sendable {
    /// -1 once a server has it.
    private let descriptor: Lock<Int32>
    let endpoint: SocketAddress
    private let text: String

    /// - Throws: ``ServerError/addressInUse(_:)`` with host and port, or what else the system says.
    public init(host: String, port: UInt16) throws(ServerError) {
        endpoint = try SocketAddress(host: host, port: port)
        text = endpoint.text(port: port)
        let descriptor = socket(
            endpoint.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ServerError.last("socket") }
        Socket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // "Every address" means IPv4 as well.
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

    /// Begins to listen. The descriptor is the caller's from now on.
    func listen(backlog: Int32) throws(ServerError) -> Int32 {
        let taken = descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        precondition(taken >= 0, "an address is listened on once")
        guard Glibc.listen(taken, backlog) == 0 else {
            // Two that claimed it at the same time: the first to listen has it.
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

/// Why a server or a loop could not start.
public enum ServerError: Error, Sendable, CustomStringConvertible {
    /// Another program has the address: host and port.
    case addressInUse(String)
    /// A system call failed with this `errno`.
    case system(call: String, code: Int32)
    /// The host is neither an IP address nor `localhost`.
    case unknownHost(String)
    /// A certificate or key file cannot be read.
    case unreadableFile(path: String, code: Int32)
    /// Certificate and key cannot be used, in the TLS library's words.
    case tls(String)
    /// libmicrohttpd refused to start, with its last words.
    case daemon(String)

    public var description: String {
        switch self {
        case .addressInUse(let address):
            "another program listens on \(address) already; stop it, or choose another address"
        case .system(let call, let code): "\(call) failed: \(Self.text(of: code))"
        case .unknownHost(let host): "'\(host)' is neither an IP address nor 'localhost'"
        case .unreadableFile(let path, let code): "\(path) cannot be read: \(Self.text(of: code))"
        case .tls(let words): "certificate or key cannot be used: \(words)"
        case .daemon(let words): "libmicrohttpd did not start: \(words)"
        }
    }
}
