/// Which names of this server are answered to; a request for another gets 421 (RFC 9110, 15.5.20).
///
/// A page whose name is bound to 127.0.0.1 after it was loaded counts as of the same origin as a server on that address;
/// its name in `Host` is what shows it.
public enum HostPolicy: Sendable, Equatable {
    case any
    /// `127.0.0.1`, `localhost` and `[::1]` on any port, and what is listed: host and port as a browser writes them.
    case loopback(orListed: Set<String>)

    func allows(_ headers: Headers) -> Bool {
        guard case .loopback(let listed) = self else { return true }
        guard let host = headers["Host"] else { return false }
        return CORSPolicy.isLoopback("http://" + host) || listed.contains(host)
    }
}
