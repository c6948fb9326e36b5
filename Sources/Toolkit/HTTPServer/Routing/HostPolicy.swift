/// Which names of this server are answered to; a request for another gets 421 (RFC 9110, 15.5.20).
///
/// A page whose name is bound to 127.0.0.1 after it was loaded counts as of the same origin as a server on that address;
/// its name in `Host` is what shows it.
public enum HostPolicy: Sendable, Equatable {
    case any
    /// The hosts of ``isLoopback(_:)``, and what is listed: host and port as a browser writes them, in lower case.
    case loopback(orListed: Set<String>)

    func allows(_ headers: Headers) -> Bool {
        guard case .loopback(let listed) = self else { return true }
        guard let host = headers["Host"] else { return false }
        return Self.isLoopback(host) || listed.contains(host.lowercased())
    }

    /// Whether a host, with or without a port, is this machine by its own name: `localhost` in any case (RFC 9110, 4.2.3),
    /// `[::1]`, or an address of 127.0.0.0/8.
    public static func isLoopback(_ authority: some StringProtocol) -> Bool {
        let text = authority.lowercased()
        let host = text.hasPrefix("[::1]") ? "[::1]" : String(text.prefix { $0 != ":" })
        let port = text.utf8.dropFirst(host.utf8.count)
        guard port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy({ 0x30...0x39 ~= $0 })
        else {
            return false
        }
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in part.utf8.allSatisfy { 0x30...0x39 ~= $0 } && UInt8(part) != nil }
    }
}
