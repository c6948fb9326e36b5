import ChatCore
public import ChatModel
import Glibc
import HTTPClient
import Logging

/// The values of all settings. `Settings.all` describes the settings, and `ConfigurationLoader` reads their values from
/// a file, the environment and flags.
public struct Configuration: Sendable {
    var listenHost = "127.0.0.1"
    /// The TCP port; 0 to let the system choose a port.
    public var listenPort = 8080
    /// The path of the data directory. A relative path is relative to the working directory.
    public var dataDirectory = "parley-data"
    /// The URL of the PostgreSQL database of a cluster; empty to use `engineFile` or the data directory. See
    /// `Configuration.storage`.
    var engineURL = ""
    /// The path of a file with the URL of the PostgreSQL database; empty to use `engineURL`.
    var engineFile = ""
    /// The URLs of the NATS servers of a cluster; empty for a cluster without a bus.
    var busServers: [String] = []
    /// The path of the file with the credentials of the bus; empty for none.
    var busCredentialsFile = ""
    /// The path of a PEM file with the authorities of the bus; empty for those of the system.
    var busAuthoritiesFile = ""
    /// The path of a PEM file with the gateway's certificate for the bus; empty for none.
    var busCertificateFile = ""
    /// The path of a PEM file with the private key of `busCertificateFile`; empty for none.
    var busKeyFile = ""
    /// The maximum number of connections to PostgreSQL that read.
    var engineConnections = 4
    /// The directory of the files that declare event types (`EventTypeDeclaration`); empty for none.
    var schemaDirectory = ""
    /// True in dev mode, which is for trying out the gateway. In dev mode, the gateway has fixed keys and listens on
    /// loopback only (docs/quick-start.md).
    public var isDevelopment = false
    /// The public address, without a trailing slash; empty to use the listening address.
    var publicURL = ""
    /// Private networks, in CIDR notation, to which webhooks may post.
    var webhookAllow: [String] = []
    /// The maximum number of connections to webhook receivers; see `Configuration.outboundConnections`.
    var webhookConnections = 1024
    /// The default consent that webhook receivers must give before the first delivery: `none`, `echo` or `cloudevents`.
    var webhookVerification = "none"
    var corsOrigins: [String] = []
    /// The path of the certificate chain in PEM; empty to serve without TLS.
    public var tlsCertificate = ""
    var transportSecurity: Duration = .zero
    var tlsKey = ""
    /// The admin key of the first app, which is used at the first start. Empty to generate a key; see `InitialSetup`.
    var adminKey = ""
    /// The PubNub keys of the first app as `publish:subscribe:secret`; empty to generate them.
    var demoKeys = ""
    /// The keys that encrypt stored secrets, in Base64. The first key encrypts new secrets; see `Configuration.vault`.
    var secretsKey = ""
    /// The path of a file with the keys that encrypt stored secrets; empty to use `secretsKey`.
    var secretsKeyFile = ""
    /// The URL of the collector for trace spans; empty to disable tracing.
    var otlpEndpoint = ""
    /// Header fields for the requests to the collector, each as `name=value`.
    var otlpHeaders: [String] = []
    /// The share of requests, from 0 to 1, that start a trace if they do not belong to one already.
    var otlpSampleRatio = 1.0
    /// The lowest log level that is written: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    var logLevel = "info"
    var logFormat = LogFormat.text
    /// The maximum number of open connections, without streams.
    var connections = 10_000
    /// The maximum number of connections from one address; 0 for no limit.
    var connectionsPerAddress = 0
    var trustedProxies: [String] = []
    /// The duration of network silence after which a waiting client counts as disconnected.
    var silence: Duration = .seconds(30)
    /// The limits of requests, records and connections.
    public var limits = Limits()

    /// The default values of all settings.
    public init() {}
}

extension Configuration {
    /// The URL for programs on this machine, for example `http://127.0.0.1:8080`; nil when the system chooses the port
    /// and has not chosen it yet.
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
    /// The maximum number of simultaneous requests to webhook receivers. It is the configured number, but at most a
    /// quarter of the system's descriptor limit, because streams need descriptors too.
    var outboundConnections: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return webhookConnections }
        return min(webhookConnections, max(64, Int(clamping: limit.rlim_cur) / 4))
    }
}

extension Configuration {
    /// Returns the exporter of trace spans; nil when no collector is configured.
    ///
    /// The address guard of webhooks is not used, because the operator has chosen the address, and collectors are
    /// usually on a private network.
    func traceExporter() throws -> TraceExporter? {
        guard !otlpEndpoint.isEmpty else { return nil }
        let options = ClientOptions(
            maxConnections: 2, userAgent: "Parley/\(Product.version)", totalTimeout: .seconds(10),
            addressGuard: .disabled)
        return TraceExporter(
            tracer: Tracer(ratio: otlpSampleRatio), client: try Client(options: options), url: otlpURL,
            headers: try otlpFields(), logger: Logger(label: "traces"))
    }

    /// The URL for traces in OTLP over HTTP. A configured base address gets the standard path; a full URL is not
    /// changed.
    private var otlpURL: String {
        let base = otlpEndpoint.hasSuffix("/") ? String(otlpEndpoint.dropLast()) : otlpEndpoint
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// The header fields for the collector.
    ///
    /// - Throws: `SettingError` for an invalid field. The error does not contain the value, which is a secret.
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
    /// The value in the first configuration as text. A secret is replaced by dots.
    public let before: String
    /// The value in the second configuration as text. A secret is replaced by dots.
    public let after: String
}

extension Configuration {
    /// Returns the settings whose values differ in `other`, in the order of ``Settings/all``.
    public func differences(to other: Configuration) -> [SettingDifference] {
        Settings.all.compactMap { setting in
            guard setting.show(self) != setting.show(other) else { return nil }
            return SettingDifference(setting: setting, before: setting.text(in: self), after: setting.text(in: other))
        }
    }

    /// Returns this configuration with the reloadable settings of `later`.
    func applying(_ later: Configuration) throws(SettingError) -> Configuration {
        var next = self
        for setting in Settings.all where setting.isReloadable { try setting.read(&next, setting.show(later)) }
        // The later configuration was checked as a whole, but this combination was not.
        try next.check()
        return next
    }
}
