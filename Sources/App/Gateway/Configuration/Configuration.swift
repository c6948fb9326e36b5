import ChatCore
public import ChatModel
import Glibc
import HTTPClient
import Logging

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

extension Configuration {
    /// Requests to receivers of webhooks under way at once: as many as are set, unless they would take more than a quarter of
    /// the descriptors the system allows, which streams need as well.
    var outboundConnections: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return webhookConnections }
        return min(webhookConnections, max(64, Int(clamping: limit.rlim_cur) / 4))
    }
}

extension Configuration {
    /// What sends spans to the collector; nil where none is set.
    ///
    /// The guard of webhooks' addresses does not apply: this one the operator chose, most often on a private network.
    func traceExporter() throws -> TraceExporter? {
        guard !otlpEndpoint.isEmpty else { return nil }
        let options = ClientOptions(
            maxConnections: 2, userAgent: "Parley/\(Product.version)", totalTimeout: .seconds(10),
            addressGuard: .disabled)
        return TraceExporter(
            tracer: Tracer(ratio: otlpSampleRatio), client: try Client(options: options), url: otlpURL,
            headers: try otlpFields(), logger: Logger(label: "traces"))
    }

    /// Where OTLP over HTTP takes traces, below a base address or as it is given in full.
    private var otlpURL: String {
        let base = otlpEndpoint.hasSuffix("/") ? String(otlpEndpoint.dropLast()) : otlpEndpoint
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// - Throws: never with the value, which is a secret.
    func otlpFields() throws(SettingError) -> [OutboundRequest.Field] {
        var fields: [OutboundRequest.Field] = []
        for item in otlpHeaders {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !parts[0].isEmpty, item.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw SettingError("otlp.headers must be name=value, several separated by commas")
            }
            fields.append((parts[0].trimmingSpaces(), parts[1].trimmingSpaces()))
        }
        return fields
    }
}

/// A setting that two configurations have otherwise.
public struct SettingDifference: Sendable {
    public let setting: Setting
    /// As they may be shown: secrets as dots.
    public let before: String
    public let after: String
}

extension Configuration {
    /// The settings that `other` has otherwise, in the order of the table.
    public func differences(to other: Configuration) -> [SettingDifference] {
        Settings.all.compactMap { setting in
            guard setting.show(self) != setting.show(other) else { return nil }
            return SettingDifference(setting: setting, before: setting.text(in: self), after: setting.text(in: other))
        }
    }

    /// This configuration with what a running gateway takes over from a later one.
    func takingOver(_ later: Configuration) throws(SettingError) -> Configuration {
        var next = self
        for setting in Settings.all where setting.isReloadable { try setting.read(&next, setting.show(later)) }
        // What was checked is the later one as a whole, which this is not.
        try next.check()
        return next
    }
}
