import Text

extension RemoteAddress {
    /// Parses an IP address, with or without a port: `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::1`,
    /// `[2001:db8::1]:4711`. Returns `nil` for any other text.
    init?(_ text: Substring) {
        var text = text
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            text = text[text.index(after: text.startIndex)..<end]
        } else if let colon = text.firstIndex(of: ":"), text.contains("."), !text.contains("::") {
            text = text[..<colon]
        }
        guard let ip = IPAddress(String(text)) else { return nil }
        self.init(ip)
    }

    /// Returns the address of the client that sent a request over a connection from this address. If this address
    /// belongs to a trusted proxy, the client's address is read from `X-Forwarded-For`.
    ///
    /// Each proxy appends to `X-Forwarded-For` the address from which it received the request. The list is therefore
    /// read from its end, up to the first address that does not belong to a trusted proxy. Anything before that
    /// address may be forged. At most 32 entries are read, and reading ends at an entry that is not an address.
    func client(_ headers: Headers, isTrusted: (RemoteAddress) -> Bool) -> RemoteAddress {
        var address = self
        guard isTrusted(address) else { return address }
        let hops = headers[all: "X-Forwarded-For"].flatMap { $0.split(separator: ",") }
        for hop in hops.suffix(Self.mostHops).reversed() {
            guard let next = RemoteAddress(hop.trimmed) else { return address }
            address = next
            guard isTrusted(address) else { return address }
        }
        return address
    }

    private static let mostHops = 32
}

extension Substring {
    fileprivate var trimmed: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let rest = drop(while: isSpace)
        return rest[..<(rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
    }
}
