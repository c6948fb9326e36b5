internal import Locking

/// The settings of a ``Connection``.
public struct ConnectionSettings: Sendable, Equatable {
    /// The server and the credentials: a URI (`postgresql://user:password@host:5432/database`) or a text of
    /// `key=value` pairs, with the parameters of libpq
    /// (<https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS>). TLS and client certificates are
    /// parameters too (`sslmode`, `sslcert`).
    ///
    /// Several hosts, separated by commas, are tried in their order. Each one has an equal part of the deadline. The first
    /// one is the host that accepted the last connection with these settings or a copy of them, so that only one
    /// connection waits for a host that does not respond.
    /// Characters of a URI's password other than letters and digits must be percent-encoded.
    ///
    /// TCP parameters that the text does not have (`keepalives_idle`, `keepalives_interval`, `keepalives_count`,
    /// `tcp_user_timeout`) get values with which a lost network is noticed within 25 s.
    public var connectionInfo: String
    /// The name that the server shows for the session (`pg_stat_activity`). Empty for none. `application_name` of
    /// ``connectionInfo`` has precedence.
    public var applicationName: String
    /// The maximum time for opening the connection, and for each run from the call of ``Connection/run(_:)``. A run
    /// that takes longer ends with ``PostgresFailure/Kind/timedOut``, and the connection is closed. The server may
    /// still complete its statement: limit the server's work with `statement_timeout` in ``sessionSettings``.
    public var deadline: Duration
    /// Settings of the server for the session, for instance `["statement_timeout": "4s"]`. They have precedence over
    /// those of ``connectionInfo``, and over the defaults of the role, the database and the server.
    public var sessionSettings: [String: String]
    /// The statements that run on each new connection before it is returned. If one fails, the connection is not opened.
    public var firstStatements: [Statement] = []
    /// True to accept only a server that permits writes, and no standby. It has precedence over the parameter
    /// `target_session_attrs` of ``connectionInfo``.
    public var needsWrites: Bool
    /// The maximum number of runs that wait for the connection. A further run fails with
    /// ``PostgresFailure/Kind/overloaded``.
    public var waitingRuns: Int
    /// The maximum number of statements that are prepared on the connection. A statement beyond this number is parsed
    /// at every use.
    public var preparedStatements: Int
    /// Shared by all copies.
    let preferredHost = PreferredHost()

    /// Creates settings.
    public init(
        connectionInfo: String, applicationName: String = "", deadline: Duration = .seconds(5),
        sessionSettings: [String: String] = [:], needsWrites: Bool = false, waitingRuns: Int = 1024,
        preparedStatements: Int = 500
    ) {
        self.connectionInfo = connectionInfo
        self.applicationName = applicationName
        self.deadline = deadline
        self.sessionSettings = sessionSettings
        self.needsWrites = needsWrites
        self.waitingRuns = waitingRuns
        self.preparedStatements = preparedStatements
    }
}

/// The host that accepted the last connection.
final class PreferredHost: Sendable, Equatable {
    /// The place of the host in the connection info.
    private let place = Lock(0)

    /// Returns elements in the order of attempts: the preferred one and the following ones, then those before it.
    func order<Element>(_ elements: [Element]) -> [(place: Int, element: Element)] {
        let first = min(place.withLock { $0 }, max(0, elements.count - 1))
        let numbered = elements.enumerated().map { (place: $0.offset, element: $0.element) }
        return Array(numbered[first...] + numbered[..<first])
    }

    func set(_ newPlace: Int) { place.withLock { $0 = newPlace } }

    /// Always true: settings are equal whatever host they prefer.
    static func == (left: PreferredHost, right: PreferredHost) -> Bool { true }
}

extension ConnectionSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings without the connection info, which may contain a password.
    public var description: String { "ConnectionSettings(applicationName: \(applicationName), deadline: \(deadline))" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without the connection info.
    public var customMirror: Mirror { Mirror(self, children: ["deadline": deadline]) }
}
