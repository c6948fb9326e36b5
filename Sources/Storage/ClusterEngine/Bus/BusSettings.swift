import NATS

/// The NATS servers that carry hints between the nodes, and the node's identity there.
public struct BusSettings: Sendable, Equatable {
    /// The URLs of the servers, which begin with `nats://` or `tls://` and contain no credentials.
    public var servers: [String]
    /// The path of the file with the credentials; nil if the servers require none. The file is a `.creds` file of `nsc`
    /// (JWT and NKey), or has one line: `user:password` or a token.
    public var credentialsFile: String?
    /// The path of a PEM file with the authorities that sign the certificates of the servers; nil for those of the
    /// system. TLS is used if this or ``certificateFile`` is set, or if one of the URLs begins with `tls://`. The client
    /// always compares the name in the server's certificate with the name in the URL.
    public var authoritiesFile: String?
    /// The path of a PEM file with the client's certificate chain; nil if the servers require none.
    public var certificateFile: String?
    /// The path of a PEM file with the private key of ``certificateFile``.
    public var keyFile: String?

    /// Creates settings without credentials and without TLS files.
    public init(servers: [String]) { self.servers = servers }

    /// The settings of a connection.
    ///
    /// - Throws: ``NATSFailure`` if the credentials file cannot be used.
    func connection(
        deadline: Duration, onEvent: @escaping @Sendable (ConnectionEvent) -> Void
    ) throws(NATSFailure) -> ConnectionSettings {
        var settings = ConnectionSettings(servers: servers, name: "parley", onEvent: onEvent)
        settings.deadline = deadline
        if let credentialsFile { settings.credentials = try .init(file: credentialsFile) }
        if authoritiesFile != nil || certificateFile != nil || keyFile != nil {
            settings.tls = .init(authorities: authoritiesFile, certificate: certificateFile, key: keyFile)
        }
        return settings
    }
}

/// The subjects that a cluster uses. All of them begin with `parley.`, followed by the identity of the installation,
/// because several clusters may share NATS servers. A node publishes and subscribes to each of them.
struct BusSubjects: Sendable {
    /// The identity of the cluster.
    let installation: String

    /// Hints about commits and about the delivery queue.
    var log: String { "parley.\(installation).log" }
    /// The round trips of ``ClusterInspection``.
    var check: String { "parley.\(installation).check" }
}
