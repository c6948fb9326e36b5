import Glibc

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
