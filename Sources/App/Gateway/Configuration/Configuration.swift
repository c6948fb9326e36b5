public import ChatModel

/// Everything an operator can decide, as values. `Settings.all` names each; `ConfigurationLoader` fills it from file,
/// environment and flags.
public struct Configuration: Sendable {
    var listenHost = "127.0.0.1"
    public var listenPort = 8080
    public var dataDirectory = "parley-data"
    /// Where event types are declared by files (`EventTypeDeclaration`); empty: nowhere.
    var schemaDirectory = ""
    /// Fast for trying: fixed keys, loopback only (`product.md` 4).
    public var isDevelopment = false
    /// The address the world sees, without a slash at its end; empty: the address listened on.
    public var publicURL = ""
    /// Networks in CIDR form that webhooks may reach although they are private.
    var webhookAllow: [String] = []
    /// Connections to receivers of webhooks; see `Configuration.outboundConnections`.
    var webhookConnections = 1024
    /// What receivers of webhooks must do before anything is sent to them: `none`, `echo` or `cloudevents`.
    var webhookVerification = "none"
    var corsOrigins: [String] = []
    public var tlsCertificate = ""
    var transportSecurity: Duration = .zero
    var tlsKey = ""
    /// The first app's admin key at the first start; empty: a random one, see `InitialSetup`.
    public var adminKey = ""
    /// `pub:sub:secret` for the first app; empty: random ones.
    var demoKeys = ""
    /// Keys that seal stored secrets, in base64, the first of them for new ones; see `Configuration.vault`.
    var secretsKey = ""
    /// The path of a file that holds them instead.
    var secretsKeyFile = ""
    /// The collector that spans are sent to; empty: nothing is traced.
    var otlpEndpoint = ""
    /// `name=value` of fields that its posts carry.
    var otlpHeaders: [String] = []
    /// Of requests without a trace of their own, how many begin one.
    var otlpSampleRatio = 1.0
    public var logLevel = "info"
    var logFormat = LogFormat.text
    /// Open connections, streams not counted.
    public var connections = 10_000
    public var connectionsPerAddress = 0
    var trustedProxies: [String] = []
    /// After which a client that waits and whose machine or network has gone without a word counts as gone.
    public var silence: Duration = .seconds(30)
    public var limits = Limits()

    public init() {}
}

extension Configuration {
    /// Where programs on this machine reach the gateway, for instance `http://127.0.0.1:8080`; nil while the system is to
    /// pick the port.
    public var localURL: String? {
        guard listenPort != 0 else { return nil }
        let host =
            switch listenHost {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            case let host: host.contains(":") ? "[\(host)]" : host
            }
        return "\(tlsCertificate.isEmpty ? "http" : "https")://\(host):\(listenPort)"
    }
}
