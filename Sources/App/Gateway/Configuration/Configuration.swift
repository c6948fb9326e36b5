import ChatCore
public import ChatModel
import Glibc
import HTTPClient
import Logging

/// The values of all settings. `Settings.all` describes each setting; `ConfigurationLoader` reads them from file,
/// environment and flags.
public struct Configuration: Sendable {
    var listenHost = "127.0.0.1"
    /// The TCP port; 0 lets the system choose one.
    public var listenPort = 8080
    /// The path of the data directory, relative to the working directory unless absolute.
    public var dataDirectory = "parley-data"
    /// The directory of the files that declare event types (`EventTypeDeclaration`); empty for none.
    var schemaDirectory = ""
    /// True in dev mode, which is for trying the gateway: fixed keys, loopback only (docs/quick-start.md).
    public var isDevelopment = false
    /// The public address, without a trailing slash; empty selects the listening address.
    var publicURL = ""
    /// Private networks in CIDR form that webhooks may reach.
    var webhookAllow: [String] = []
    /// The maximum number of connections to webhook receivers; see `Configuration.outboundConnections`.
    var webhookConnections = 1024
    /// The verification of webhook receivers before the first delivery: `none`, `echo` or `cloudevents`.
    var webhookVerification = "none"
    var corsOrigins: [String] = []
    /// The path of the certificate chain in PEM; empty serves without TLS.
    public var tlsCertificate = ""
    var transportSecurity: Duration = .zero
    var tlsKey = ""
    /// The admin key of the first app at the first start; empty generates one, see `InitialSetup`.
    var adminKey = ""
    /// The keys `pub:sub:secret` of the first app; empty generates them.
    var demoKeys = ""
    /// The keys that encrypt stored secrets, in base64. The first one encrypts new secrets; see `Configuration.vault`.
    var secretsKey = ""
    /// The path of a file that holds these keys instead.
    var secretsKeyFile = ""
    /// The URL of the collector for spans; empty disables tracing.
    var otlpEndpoint = ""
    /// Header fields of the posts to the collector, as `name=value`.
    var otlpHeaders: [String] = []
    /// The share of requests without a trace that start one, from 0 to 1.
    var otlpSampleRatio = 1.0
    /// The lowest level that is logged: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    var logLevel = "info"
    var logFormat = LogFormat.text
    /// The maximum number of open connections, not counting streams.
    var connections = 10_000
    /// The maximum number of connections from one address; 0 for no limit.
    var connectionsPerAddress = 0
    var trustedProxies: [String] = []
    /// The network silence after which a waiting client is considered gone.
    var silence: Duration = .seconds(30)
    /// The limits of requests, records and connections.
    public var limits = Limits()

    /// The default values of all settings.
    public init() {}
}

extension Configuration {
    /// The address at which programs on this machine reach the gateway, for example `http://127.0.0.1:8080`; nil while
    /// the system has not yet chosen the port.
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
    /// The maximum number of concurrent requests to webhook receivers: the configured number, but no more than a
    /// quarter of the system's descriptor limit, because streams need descriptors too.
    var outboundConnections: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return webhookConnections }
        return min(webhookConnections, max(64, Int(clamping: limit.rlim_cur) / 4))
    }
}

extension Configuration {
    /// Returns the exporter that sends spans to the collector; nil when no collector is set.
    ///
    /// The address guard of webhooks does not apply: the operator chose this address, which is usually on a private
    /// network.
    func traceExporter() throws -> TraceExporter? {
        guard !otlpEndpoint.isEmpty else { return nil }
        let options = ClientOptions(
            maxConnections: 2, userAgent: "Parley/\(Product.version)", totalTimeout: .seconds(10),
            addressGuard: .disabled)
        return TraceExporter(
            tracer: Tracer(ratio: otlpSampleRatio), client: try Client(options: options), url: otlpURL,
            headers: try otlpFields(), logger: Logger(label: "traces"))
    }

    /// The collector's URL for traces by OTLP over HTTP: below a base address, or as given in full.
    private var otlpURL: String {
        let base = otlpEndpoint.hasSuffix("/") ? String(otlpEndpoint.dropLast()) : otlpEndpoint
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// - Throws: an error without the value, which is a secret.
    func otlpFields() throws(SettingError) -> [OutboundRequest.Field] {
        var fields: [OutboundRequest.Field] = []
        for item in otlpHeaders {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !parts[0].isEmpty, item.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw SettingError("otlp.headers must be name=value pairs separated by commas")
            }
            fields.append((parts[0].trimmingSpaces(), parts[1].trimmingSpaces()))
        }
        return fields
    }
}

/// A setting that differs between two configurations.
public struct SettingDifference: Sendable {
    /// The setting.
    public let setting: Setting
    /// The values as text. Secrets are shown as dots.
    public let before: String
    /// The value in the second configuration, as ``before``.
    public let after: String
}

extension Configuration {
    /// Returns the settings that differ in `other`, in the order of the table.
    public func differences(to other: Configuration) -> [SettingDifference] {
        Settings.all.compactMap { setting in
            guard setting.show(self) != setting.show(other) else { return nil }
            return SettingDifference(setting: setting, before: setting.text(in: self), after: setting.text(in: other))
        }
    }

    /// Returns this configuration with the reloadable settings of a later one.
    func applying(_ later: Configuration) throws(SettingError) -> Configuration {
        var next = self
        for setting in Settings.all where setting.isReloadable { try setting.read(&next, setting.show(later)) }
        // The later configuration was checked as a whole; this combination was not.
        try next.check()
        return next
    }
}
