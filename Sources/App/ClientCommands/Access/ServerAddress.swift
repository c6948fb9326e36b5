/// The address of the gateway.
package struct ServerAddress: Equatable, Sendable {
    package static let standard = "http://127.0.0.1:8080"

    /// The URL without a trailing slash. Paths are appended to this text.
    package let url: String
    /// The host as in the URL, without port and brackets.
    package let host: String

    /// Parses an `http` or `https` URL.
    ///
    /// - Throws: a usage error that describes the invalid part of the text.
    package init(_ text: String) throws(CommandFailure) {
        let lowered = text.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowered.hasPrefix($0) }) else {
            throw Self.fault(text, "the URL must begin with http:// or https://")
        }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else {
            throw Self.fault(text, "the URL must contain only ASCII characters and no spaces")
        }
        guard !text.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Self.fault(text, "the URL must not contain '?' or '#'")
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        // A password in a URL would be visible in shell histories and process lists. The key has a variable of its own.
        guard !authority.contains("@") else { throw Self.fault("…", "pass credentials in PARLEY_KEY") }
        host = try Self.host(of: authority, in: text)
        var url = Substring(text)
        while url.last == "/" { url.removeLast() }
        self.url = String(url)
    }

    private static func host(of authority: Substring, in text: String) throws(CommandFailure) -> String {
        let host: Substring
        let port: Substring
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
        } else {
            host = authority.prefix { $0 != ":" }
            port = authority[host.endIndex...]
        }
        guard !host.isEmpty else { throw fault(text, "the URL must contain a host") }
        guard port.isEmpty || port.first == ":" && (port.count == 1 || UInt16(port.dropFirst()) != nil) else {
            throw fault(text, "'\(port.drop { $0 == ":" })' is not a port")
        }
        return String(host)
    }

    private static func fault(_ text: String, _ what: String) -> CommandFailure {
        CommandFailure("'\(text)' cannot be the gateway's URL: \(what)", code: 2)
    }

    /// True when the host is this machine. The public key of dev mode may be used only for such a host.
    package var isLoopback: Bool {
        let host = host.lowercased()
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
