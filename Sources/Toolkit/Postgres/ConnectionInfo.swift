/// The parameters of a connection as libpq knows them.
struct ConnectionInfo: Sendable {
    /// The parameters of all hosts.
    var parameters: [String: String]

    /// True if a URI has separators inside the credentials that are not percent-encoded. libpq would treat a piece of
    /// the password as a host or a port, and its messages would show that piece.
    static func hasAmbiguousCredentials(_ text: String) -> Bool {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else { return false }
        let rest = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)[1].dropFirst(2)
        guard let at = rest.firstIndex(of: UInt8(ascii: "@")) else { return false }
        return rest[rest.index(after: at)...].contains(UInt8(ascii: "@"))
            || rest[..<at].contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
    }

    /// Adds the settings of the connection to the parameters.
    mutating func apply(_ settings: ConnectionSettings) {
        parameters["client_encoding"] = "UTF8"
        if settings.needsWrites { parameters["target_session_attrs"] = "read-write" }
        if parameters["application_name"] == nil, !settings.applicationName.isEmpty {
            parameters["application_name"] = settings.applicationName
        }
        // A connection that is idle when the network loses it is closed after 25 s, and not after two hours.
        let network = [
            "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
            "tcp_user_timeout": "\(Int(settings.deadline / .milliseconds(1)))",
        ]
        parameters.merge(network) { given, _ in given }
        let options = settings.sessionSettings.sorted { $0.key < $1.key }
            .map { "-c \(Self.escape($0.key))=\(Self.escape($0.value))" }
        let all = ([parameters["options"] ?? ""] + options).filter { !$0.isEmpty }
        if !all.isEmpty { parameters["options"] = all.joined(separator: " ") }
    }

    /// Escapes a part of the parameter `options`, which separates options at spaces.
    private static func escape(_ text: String) -> String {
        String(text.flatMap { $0 == " " || $0 == "\\" ? ["\\", $0] : [$0] })
    }

    /// The parameters of each host, in order. A list with one port applies to all hosts.
    ///
    /// libpq tries several hosts by itself, but only its blocking functions limit the time for each of them.
    var hosts: [[String: String]] {
        let lists = ["host", "hostaddr", "port"].map { name in
            (name, parameters[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? [])
        }
        let count = lists[0...1].map(\.1.count).max() ?? 1
        guard count > 1 else { return [parameters] }
        return (0..<count).map { index in
            var host = parameters
            for (name, list) in lists where !list.isEmpty {
                host[name] = index < list.count ? String(list[index]) : String(list[list.count - 1])
            }
            return host
        }
    }

    /// Replaces the password in a message.
    func redact(_ message: String) -> String {
        var text = message
        for name in ["password", "sslpassword"] {
            guard let secret = parameters[name], !secret.isEmpty else { continue }
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***")
        }
        return text
    }
}
