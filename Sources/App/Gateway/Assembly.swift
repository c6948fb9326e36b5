import ChatCore
import ChatModel
import Dashboard
import Following
import HTTPClient
import HTTPServer
import InboundHooks
import Logging
import NativeAPI
import PubNubAPI
import Webhooks

/// The rooms, introduced to each other. The only place that knows all of them.
struct Assembly: Sendable {
    let configuration: Configuration
    let loop: Loop
    let service: ChatService
    let client: Client
    let webhooks: WebhookService
    let inbound: InboundService
    let polls: HeldPolls
    let api: NativeAPI

    init(_ configuration: Configuration, engine: any Engine, loop: Loop, logger: Logger) throws {
        self.configuration = configuration
        self.loop = loop
        service = ChatService(
            engine: engine, limits: configuration.limits, vault: try configuration.vault(), executor: loop,
            tasks: LoopTasks(loop))
        service.eventTypes.observeUnusable { version in
            logger.error(
                "schema cannot be used: its event type is not checked, or refused",
                metadata: [
                    "app": "\(version.space.name)", "type": "\(version.type)", "version": "\(version.number)",
                    "reason": "\(version.fault)",
                ])
        }
        let guarding = AddressGuard(allowing: try configuration.allowedNetworks())
        let userAgent = "Parley/\(GatewayServer.version)"
        client = try Client(options: ClientOptions(userAgent: userAgent, addressGuard: guarding))
        var options = WebhookOptions(addressGuard: guarding, userAgent: userAgent)
        options.publicURL = configuration.publicURL
        options.verification = WebhookVerification(rawValue: configuration.webhookVerification) ?? .none
        webhooks = WebhookService(
            service: service, client: client, options: options, logger: Logger(label: "webhooks"))
        inbound = InboundService(service: service, logger: Logger(label: "sources"))
        polls = HeldPolls(service: service, loop: loop)
        api = NativeAPI(
            service: service, webhooks: webhooks, inbound: inbound, polls: polls, publicURL: configuration.publicURL)
    }

    /// Says on every stream that the gateway goes and that the client should come back.
    var sayGoodbye: @Sendable () async -> Void {
        { [api] in await api.drainStreams() }
    }

    /// Adds every route and listens.
    func listen() async throws -> Server {
        var router = Router(problemBaseURL: problemBaseURL, cors: corsPolicy)
        api.addRoutes(to: &router)
        PubNubAPI(service: service, polls: polls).addRoutes(to: &router)
        Dashboard.addRoutes(to: &router)
        let server = Server(options: serverOptions, router: router, loop: loop, logger: Logger(label: "http"))
        try await server.start()
        api.watch(server)
        return server
    }

    /// The address people and programs on this machine use.
    func url(of server: Server) -> String { url(port: server.address?.port ?? UInt16(configuration.listenPort)) }

    private func url(port: UInt16) -> String {
        let scheme = configuration.tlsCertificate.isEmpty ? "http" : "https"
        let host = configuration.listenHost.contains(":") ? "[\(configuration.listenHost)]" : configuration.listenHost
        return "\(scheme)://\(host):\(port)"
    }

    /// What the types of problems begin with; a relative reference when neither address is known beforehand.
    private var problemBaseURL: String {
        guard configuration.publicURL.isEmpty, configuration.listenPort != 0 else { return configuration.publicURL }
        return url(port: UInt16(configuration.listenPort))
    }

    private var corsPolicy: CORSPolicy {
        let origins = configuration.corsOrigins
        if origins.isEmpty { return CORSPolicy(origins: configuration.isDevelopment ? .loopback : .none) }
        return CORSPolicy(origins: origins.contains("*") ? .any : .listed(Set(origins)))
    }

    private var serverOptions: ServerOptions {
        var options = ServerOptions(host: configuration.listenHost, port: UInt16(configuration.listenPort))
        let limits = configuration.limits
        options.limits.connections = configuration.connections
        options.limits.connectionsPerAddress = Self.limit(configuration.connectionsPerAddress)
        options.limits.streams = limits.streamsInGateway
        options.limits.streamsPerAddress = Self.limit(limits.streamsPerAddress)
        options.deadlines.drain = limits.drain
        if !configuration.tlsCertificate.isEmpty {
            options.tls = ServerOptions.TLSFiles(
                certificatePath: configuration.tlsCertificate, keyPath: configuration.tlsKey)
        }
        return options
    }

    /// Zero in the settings means that there is no limit.
    private static func limit(_ setting: Int) -> Int? { setting == 0 ? nil : setting }
}
