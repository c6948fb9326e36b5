import ChatCore
import ChatModel
import Dashboard
import LongPolling
import HTTPClient
import HTTPServer
import InboundHooks
import Locking
import Logging
import NativeAPI
import PubNubAPI
import Text
import Webhooks

/// The services of the gateway and the connections between them. Only this type knows all services.
struct ServiceContainer: Sendable {
    /// The configuration with which the gateway was started.
    let configuration: Configuration
    /// The current configuration, which a reload changes.
    let inForce: Lock<Configuration>
    let loop: Loop
    let service: ChatService
    let client: Client
    let guarding: AddressGuard
    let webhooks: WebhookService
    let inbound: InboundService
    let polls: LongPollTable
    let api: NativeAPI
    let server: Server
    private let router: Router
    /// Sends trace spans to the operator's collector; nil when no collector is configured.
    let exporter: TraceExporter?

    init(
        _ configuration: Configuration, on server: Server, store: OpenStore, loop: Loop, logger: Logger
    ) throws {
        self.configuration = configuration
        inForce = Lock(configuration)
        self.loop = loop
        exporter = try configuration.traceExporter()
        service = ChatService(
            engine: store.engine, presence: store.presence, limits: configuration.limits, clock: store.clock,
            vault: try configuration.vault(), executor: loop, tasks: LoopTasks(loop), tracer: exporter?.tracer)
        service.eventTypes.observeUnusable { version in
            logger.error(
                "cannot use a schema; events of its type are rejected in mode enforce, and not checked in other modes",
                metadata: [
                    "app": "\(version.app.name)", "type": "\(version.type)", "version": "\(version.number)",
                    "reason": "\(version.fault)",
                ])
        }
        guarding = AddressGuard(allowing: try configuration.allowedNetworks())
        let userAgent = "Parley/\(Product.version)"
        let outbound = configuration.outboundConnections
        client = try Client(
            options: ClientOptions(
                maxConnections: outbound, perHostConnections: max(16, outbound / 4), userAgent: userAgent,
                addressGuard: guarding))
        var options = WebhookOptions(addressGuard: guarding, userAgent: userAgent)
        options.publicURL = configuration.publicURL
        options.verification = WebhookVerification(rawValue: configuration.webhookVerification) ?? .none
        webhooks = WebhookService(
            service: service, client: client, options: options, logger: Logger(label: "webhooks"))
        inbound = InboundService(service: service, logger: Logger(label: "sources"))
        polls = LongPollTable(service: service, loop: loop)
        api = NativeAPI(
            service: service, webhooks: webhooks, inbound: inbound, polls: polls, publicURL: configuration.publicURL)
        var router = configuration.router
        router.middleware = RequestMiddleware(tracer: service.tracer, logger: Logger(label: "requests")).wrap
        api.addRoutes(to: &router)
        PubNubAPI(
            service: service, polls: polls,
            origins: configuration.isDevelopment ? configuration.corsPolicy.origins : .any
        ).addRoutes(to: &router)
        Dashboard.addRoutes(to: &router, isDevelopment: configuration.isDevelopment)
        self.server = server
        self.router = router
    }

    /// Announces on every stream that the gateway stops and that the client should reconnect.
    var announceStop: @Sendable () async -> Void {
        { [api] in await api.drainStreams() }
    }

    /// Serves all routes.
    func listen() async throws {
        try await server.replace(router: router)
        if server.address == nil { try await server.start() }
        api.watch(server, version: Product.version)
    }

    /// The URL at which users and programs on this machine can call the gateway.
    var url: String { configuration.url(of: server) }
}

extension Configuration {
    /// The URL of a server with these settings for users and programs on this machine.
    func url(of server: Server) -> String { url(port: server.address?.port ?? UInt16(listenPort)) }

    private func url(port: UInt16) -> String {
        "\(tlsCertificate.isEmpty ? "http" : "https")://\(listenHost.contains(":") ? "[\(listenHost)]" : listenHost):\(port)"
    }

    /// A router without routes.
    var router: Router {
        var router = Router(problemBaseURL: problemBaseURL, cors: corsPolicy)
        router.hosts = hostPolicy
        router.refusesCrossSite = isDevelopment
        router.transportSecuritySeconds = Int(transportSecurity.components.seconds)
        return router
    }

    /// The base URL of problem types: the public address, otherwise the listening address. Empty when the system
    /// chooses the port.
    fileprivate var problemBaseURL: String {
        guard publicURL.isEmpty, listenPort != 0 else { return publicURL }
        return url(port: UInt16(listenPort))
    }

    /// The accepted values of `Host`. In dev mode the keys are public, so a page of another site must not be able to
    /// call the gateway through a DNS name that points to this machine.
    var hostPolicy: HostPolicy {
        guard isDevelopment else { return .any }
        let named = publicURL.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first
        return .loopback(orListed: named.map { [$0.lowercased()] } ?? [])
    }

    var corsPolicy: CORSPolicy {
        if corsOrigins.isEmpty { return CORSPolicy(origins: isDevelopment ? .loopback : .none) }
        return CORSPolicy(origins: corsOrigins.contains("*") ? .any : .listed(Set(corsOrigins)))
    }

    var serverOptions: ServerOptions {
        var options = ServerOptions(host: listenHost, port: UInt16(listenPort))
        if let proxies = try? proxyNetworks(), !proxies.isEmpty {
            options.isTrustedProxy = { address in proxies.contains { $0.contains(address.ip) } }
        }
        options.limits.connections = connections
        options.limits.connectionsPerAddress = Self.limit(connectionsPerAddress)
        options.limits.streams = limits.streamsInGateway
        options.limits.streamsPerAddress = Self.limit(limits.streamsPerAddress)
        options.deadlines.drain = limits.drain
        options.deadlines.silence = silence
        if !tlsCertificate.isEmpty {
            options.tls = ServerOptions.TLSFiles(certificatePath: tlsCertificate, keyPath: tlsKey)
        }
        return options
    }

    /// Returns the limit that a setting stands for: nil (no limit) for zero.
    private static func limit(_ setting: Int) -> Int? { setting == 0 ? nil : setting }
}
