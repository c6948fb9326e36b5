import Text

/// The parts of a URL that determine the destination of a connection.
///
/// The parser is stricter than libcurl, which parses the URL again. It rejects everything that two parsers could
/// interpret differently: a backslash, a missing slash, a percent-encoded host, or characters outside ASCII.
struct OutboundURL: Sendable, Equatable {
    enum Scheme: String, Sendable { case http, https }

    enum Host: Sendable, Equatable {
        case name(String)
        case address(IPAddress)
        /// A host that is not a name and not a canonically written address, such as `0x7f.1`.
        case doubtful
    }

    var scheme: Scheme?
    var host: Host
    var port: UInt16
    /// True when the host needs no name lookup.
    var isNumeric: Bool { if case .address = host { true } else { false } }
    var hasUserinfo: Bool
    var hasFragment: Bool
    /// Scheme, host and port as one text. Requests with the same text may share connections.
    var authority: String

    /// The maximum length of a URL in bytes. A longer URL is an attack or a mistake.
    static let limitBytes = 8192

    /// Parses a URL. Returns `nil` if the text is not an absolute URL in ASCII with a host, or if its port is invalid.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.limitBytes, bytes.allSatisfy(Self.isPlain),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let schemeText = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        var authority = rest[..<end]
        hasFragment = rest[end...].contains(UInt8(ascii: "#"))
        hasUserinfo = false
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            hasUserinfo = true
            authority = authority[(at + 1)...]
        }
        guard let (hostBytes, portBytes) = Self.split(authority), !hostBytes.isEmpty else { return nil }
        scheme = Scheme(rawValue: schemeText)
        if portBytes.isEmpty {
            port = scheme == .http ? 80 : 443
        } else {
            guard portBytes.count <= 5, portBytes.allSatisfy(Self.isDigit),
                let number = UInt16(String(decoding: portBytes, as: UTF8.self)), number > 0
            else { return nil }
            port = number
        }
        let hostText = String(decoding: hostBytes, as: UTF8.self).lowercased()
        guard let host = Self.host(hostText) else { return nil }
        self.host = host
        self.authority = "\(schemeText)://\(hostText):\(port)"
    }

    private static func split(_ authority: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let rest = authority[(close + 1)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
            return (authority[...close], rest.dropFirst())
        }
        guard let colon = authority.firstIndex(of: UInt8(ascii: ":")) else { return (authority, []) }
        return (authority[..<colon], authority[(colon + 1)...])
    }

    private static func host(_ text: String) -> Host? {
        if text.hasPrefix("[") {
            // An address with a zone (`%25eth0`) is also rejected, because a zone names a network interface of this
            // machine.
            guard let address = IPAddress(String(text.dropFirst().dropLast())), case .v6 = address else { return nil }
            return .address(address)
        }
        if let address = IPAddress(text) { return .address(address) }
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.utf8.count) }),
            name.utf8.allSatisfy(isHostCharacter), let last = labels.last
        else { return nil }
        // A host that ends in a number (WHATWG URL) may be interpreted as an IPv4 address by libc and browsers.
        if last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x") { return .doubtful }
        return .name(String(name))
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "\\") }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: isDigit(byte)
        }
    }
}
