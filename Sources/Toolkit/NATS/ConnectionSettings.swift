/// The servers, the identity and the limits of a ``Connection``.
public struct ConnectionSettings: Sendable {
    /// The proof of the client's identity.
    public enum Credentials: Sendable, Equatable {
        /// The server asks for no credentials.
        case none
        /// A user name and a password.
        case password(user: String, password: String)
        /// A token.
        case token(String)
        /// The path of a credentials file: the user's JWT and the seed of the user's key, as `nsc` writes them.
        case file(String)
        /// A public user key (`U…`) and the path of the file with its seed.
        case key(publicKey: String, seedFile: String)
    }

    /// The certificates of TLS connections.
    public struct TLS: Sendable, Equatable {
        /// The path of a PEM file with the authorities that the client trusts. `nil` means those of the system.
        public var authorities: String?
        /// The path of a PEM file with the client's certificate chain, for servers that require one.
        public var certificate: String?
        /// The path of a PEM file with the private key of ``certificate``.
        public var key: String?

        /// Creates the settings from the paths of PEM files.
        public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// The URLs of the servers: `nats://host:port`, or `tls://host:port`. The client connects to one of them, in a
    /// random order, and to other servers of the same cluster that a server announces. A URL may not contain
    /// credentials.
    public var servers: [String]
    /// The name of the connection, which the server's monitoring shows.
    public var name: String
    /// The credentials.
    public var credentials = Credentials.none
    /// The certificates. Every connection uses TLS if this is set or if one of ``servers`` begins with `tls://`.
    public var tls: TLS?
    /// The time limit of each operation that waits: opening, subscribing, flushing and closing. Also the time after
    /// which a write that the server does not take breaks the connection. At least 100 ms.
    public var deadline = Duration.seconds(5)
    /// True if ``Connection/open(_:)`` succeeds without a server, and the client connects as soon as a server is there.
    public var retriesFirstConnection = false
    /// The maximum size of the messages that wait to be sent, in bytes.
    public var bufferedBytes = 8 * 1024 * 1024
    /// Receives the events of the connection on threads of the client library, one of which serves all connections. The
    /// closure must not block.
    public var onEvent: @Sendable (ConnectionEvent) -> Void

    /// Creates settings with the defaults.
    ///
    /// - Parameters:
    ///   - servers: at least one URL; see ``servers``.
    ///   - onEvent: see ``onEvent``.
    public init(servers: [String], name: String, onEvent: @escaping @Sendable (ConnectionEvent) -> Void = { _ in }) {
        self.servers = servers
        self.name = name
        self.onEvent = onEvent
    }
}

/// A moment at which messages may have been lost, or a reason why there is no connection. Closing a connection causes no
/// event.
public enum ConnectionEvent: Sendable, Equatable {
    /// The connection broke. Messages are lost until ``reconnected``.
    case disconnected
    /// The connection is there again, and all subscriptions with it. Also the first connection, if
    /// ``Connection/open(_:)`` returned before it.
    case reconnected
    /// A subscription received messages faster than its closure took them, and messages were dropped. The event occurs
    /// when the first message is dropped, and before each message that the closure receives after dropped messages.
    case slowConsumer
    /// A server refused the client for the reason given, for instance because of its credentials. The client goes on
    /// trying, and the event occurs with each attempt.
    case refused(NATSFailure)
    /// The server refused a subscription or a published message, because the user has no permission for its subject.
    /// The value is the server's text, which names the operation and the subject. The event occurs with each refusal.
    case denied(String)
}

extension ConnectionSettings {
    /// The values that no message may contain.
    var secrets: [String] {
        switch credentials {
        case .password(_, let password): [password]
        case .token(let token): [token]
        case .none, .file, .key: []
        }
    }

    /// True if the client signs a text of the server with a key.
    var signs: Bool {
        switch credentials {
        case .file, .key: true
        case .none, .password, .token: false
        }
    }

    /// True if every connection uses TLS.
    var usesTLS: Bool { tls != nil || servers.contains { $0.hasPrefix("tls://") } }

    var deadlineMilliseconds: Int64 { Int64(deadline / .milliseconds(1)) }

    /// Rejects wrong settings that the client library would accept.
    ///
    /// - Throws: ``NATSFailure/Kind/invalid``.
    func check() throws(NATSFailure) {
        guard !servers.isEmpty else { throw NATSFailure(.invalid, "no NATS server is given; give at least one URL") }
        for server in servers {
            // The text of such a URL is a secret.
            guard !server.contains("@") else {
                throw NATSFailure(.invalid, "the URL of a NATS server contains credentials; give them separately")
            }
            guard server.hasPrefix("nats://") || server.hasPrefix("tls://"), server.utf8.allSatisfy({ $0 > 32 }) else {
                throw NATSFailure(
                    .invalid, "\(server) is not the URL of a NATS server; it begins with nats:// or tls://")
            }
        }
        guard deadline >= .milliseconds(100), deadline <= .seconds(600) else {
            throw NATSFailure(.invalid, "the deadline for NATS must be between 100 ms and 600 s; got \(deadline)")
        }
        guard bufferedBytes > 0 else {
            throw NATSFailure(.invalid, "the buffer for NATS must hold at least 1 byte; got \(bufferedBytes)")
        }
        if let tls, (tls.certificate == nil) != (tls.key == nil) {
            throw NATSFailure(.invalid, "a client certificate for NATS needs its private key; give both or neither")
        }
    }
}
