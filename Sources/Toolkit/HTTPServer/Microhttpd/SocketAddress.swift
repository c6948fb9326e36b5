import Glibc
import Text

/// An IP address and port as a `sockaddr` structure.
struct SocketAddress {
    let host: String
    let family: Int32
    private var v4 = sockaddr_in()
    private var v6 = sockaddr_in6()

    /// Creates the address of a host and port.
    ///
    /// - Parameter host: an IP address, `localhost`, or an empty string for all IPv4 and IPv6 addresses of the machine.
    init(host: String, port: UInt16) throws(ServerError) {
        let text = host.isEmpty ? "::" : host == "localhost" ? "127.0.0.1" : host.filter { $0 != "[" && $0 != "]" }
        self.host = text
        if inet_pton(AF_INET, text, &v4.sin_addr) == 1 {
            family = AF_INET
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
        } else if inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 {
            family = AF_INET6
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
        } else {
            throw .unknownHost(host)
        }
    }

    /// Returns the address as text with this port: `127.0.0.1:8080`, `[::1]:8080`.
    func text(port: UInt16) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        family == AF_INET ? Self.withPointer(v4, body) : Self.withPointer(v6, body)
    }

    private static func withPointer<Address, Result>(
        _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeBytes(of: address) { bytes in
            body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    static func port(of address: UnsafePointer<sockaddr>) -> UInt16 {
        // The port is at the same offset in `sockaddr_in` and `sockaddr_in6`.
        UnsafeRawPointer(address).load(fromByteOffset: 2, as: UInt16.self).bigEndian
    }

    /// Returns the address of a client. The listeners accept only IPv4 and IPv6 connections.
    static func remote(_ address: UnsafePointer<sockaddr>) -> RemoteAddress {
        RemoteAddress(IPAddress(address) ?? .v4(0))
    }
}
