import ChatCore
import ChatModel
import ChatSupport
import HTTPClient
import JSON
import Locking
import SQLiteEngine
import Testing
import TestSupport

@testable import Webhooks

/// A chat with outbound delivery, as in a gateway.
struct WebhookFixture: Sendable {
    static let app = ChatFixture.app
    static let owner = ChatFixture.owner
    /// 2023-11-14T22:13:20Z, the time of the signature vectors.
    static let start = Timetoken(17_000_000_000_000_000)
    /// The addresses that webhooks on loopback need.
    static let loopback = AddressGuard(allowing: [AddressBlock("127.0.0.0/8")!])

    struct Settings: Sendable {
        var path = ":memory:"
        var limits = Limits()
        var registrationGuard = WebhookFixture.loopback
        var clientGuard = WebhookFixture.loopback
        var connections = 64
        var connectionsOfHost = Int.max
        var waiting = 4096
        var batchBytes = 256 * 1024 * 1024
        var draw = 0.5
        var verification = WebhookVerification.none
    }

    let clock: ManualClock
    let steps: StepLog
    let refusals = Refusals()
    private let fixture: ChatFixture
    let client: Client
    let webhooks: WebhookService
    /// The recorded attempts, each with the decision that followed.
    let attempts: Observed<[(delivery: Delivery, decision: DeliveryState.Decision)]>
    private let settings: Settings

    var engine: SQLiteEngine { fixture.engine }
    var service: ChatService { fixture.service }
    var registry: WebhookRegistry { webhooks.registry }

    /// Starts a fixture, runs `body` when everything is ready, and stops it again.
    static func with(
        _ settings: Settings = Settings(), clock: ManualClock = WebhookFixture.newClock(),
        _ body: @escaping @Sendable (WebhookFixture) async throws -> Void
    ) async throws {
        let fixture = try await WebhookFixture(settings, clock)
        do {
            try await fixture.fixture.run([{ try await fixture.webhooks.run(whenReady: $0) }]) {
                try await body(fixture)
            }
        } catch {
            await fixture.client.shutdown()
            throw error
        }
        await fixture.client.shutdown()
    }

    /// Starts the nodes 1 and 2 over one engine, and runs `body`. Node 1 plans and sends. The webhooks of node 2 do
    /// nothing on their own, not even follow changes, until the test runs them.
    static func withTwo(
        _ settings: Settings = Settings(), clock: ManualClock = WebhookFixture.newClock(),
        _ body: @escaping @Sendable (_ one: WebhookFixture, _ two: WebhookFixture) async throws -> Void
    ) async throws {
        let nodes = NodeEngine.Nodes([1, 2])
        let one = try await WebhookFixture(settings, clock, node: (1, nodes))
        let two = try await WebhookFixture(settings, clock, on: one.engine, node: (2, nodes))
        try await one.fixture.run([{ try await one.webhooks.run(whenReady: $0) }]) {
            try await two.fixture.runOpen {
                _ = try await two.registry.load()
                try await body(one, two)
            }
        }
        for fixture in [one, two] { await fixture.client.shutdown() }
    }

    static func newClock() -> ManualClock { ManualClock(ticks: start.rawValue, .ticksPerReading(100)) }

    private init(
        _ settings: Settings, _ clock: ManualClock, on shared: SQLiteEngine? = nil,
        node: (number: Int64, nodes: NodeEngine.Nodes)? = nil
    ) async throws {
        self.settings = settings
        self.clock = clock
        var engineSettings = SQLiteEngineSettings(
            path: settings.path, limits: settings.limits, clock: clock.wallClock, logger: ChatFixture.quiet)
        engineSettings.tailBytes = 1024 * 1024
        let engine = if let shared { shared } else { try await SQLiteEngine(engineSettings) }
        steps = StepLog(real: engine.log)
        let front = RefusingEngine(real: SteppedEngine(real: engine, steps: steps), refusals: refusals)
        fixture = try await ChatFixture(
            on: engine, behind: node.map { NodeEngine(front, node: $0.number, of: $0.nodes) } ?? front,
            limits: settings.limits, clock: clock.wallClock)
        client = try Client(
            options: ClientOptions(
                maxConnections: settings.connections, perHostConnections: settings.connectionsOfHost,
                waitingLimit: settings.waiting, addressGuard: settings.clientGuard))
        attempts = Observed()
        webhooks = Self.outbound(fixture.service, client, settings, attempts)
    }

    private static func outbound(
        _ service: ChatService, _ client: Client, _ settings: Settings,
        _ attempts: Observed<[(delivery: Delivery, decision: DeliveryState.Decision)]>
    ) -> WebhookService {
        var options = WebhookOptions(
            addressGuard: settings.registrationGuard, userAgent: "Parley/test", draw: { settings.draw })
        options.verification = settings.verification
        options.leaseWait = .milliseconds(50)
        options.shortagePause = .milliseconds(20)
        options.batchBytes = settings.batchBytes
        options.observe = { attempts.append(($0, $1)) }
        return WebhookService(service: service, client: client, options: options, logger: ChatFixture.quiet)
    }

    /// A second node: its own planner and sender over the same engine.
    func another() -> WebhookService { Self.outbound(service, client, settings, attempts) }
}

extension WebhookFixture {
    var chat: ChatAccess { service.chat(for: Self.owner) }

    /// Creates a webhook for a receiver.
    @discardableResult
    func webhook(
        _ receiver: ScriptedServer, types: [NamePattern] = [.all], channels: [NamePattern] = [.all],
        filter: Filter? = nil,
        concurrency: Int? = nil
    ) async throws -> IssuedWebhook {
        try await registry.create(
            WebhookSettings(
                url: receiver.url("/hook"), types: types, channels: channels, filter: filter, concurrency: concurrency),
            by: Self.owner)
    }

    @discardableResult
    func emit(_ type: String = "order.paid", channel: String = "orders.eu", data: String = "{}") async throws -> Event {
        try await chat.emit(
            EventDraft.event(channel: channel, type: type, data: JSONText(trusted: Array(data.utf8)), user: "ana")
        ).event
    }

    /// All deliveries, oldest event first.
    func deliveries(of webhook: String? = nil) async throws -> [Delivery] {
        var query = Deliveries.Query(RecordList(limit: 250))
        query.subscriber = webhook
        return try await webhooks.deliveries.list(query, by: Self.owner).items.reversed()
    }

    /// Overwrites a webhook's record with invalid content.
    func spoil(_ webhook: Webhook) async throws {
        let change = RecordChange(Webhook.recordKey(of: webhook.subscriber), body: .emptyObject, precondition: .present)
        _ = try await engine.directory.write([change])
    }

    /// The events on `$system`, oldest first.
    func notices() async throws -> [Event] {
        let notices = try await engine.log.history([
            HistoryRequest(channel: ChannelID(ChannelID.systemName, in: Self.app), limit: 100)
        ])[0].items
        for notice in notices { try await expectCatalogued(notice.type, notice.data) }
        return notices
    }

    /// Validates the data of one of the gateway's own events against the catalogue.
    func expectCatalogued(_ type: String, _ data: JSONText) async throws {
        #expect(try await chat.validate(data, as: type).faults == [])
    }

    /// Waits for `count` recorded attempts.
    @discardableResult
    func recorded(_ count: Int) async -> [Delivery] { await attempts.wait(count: count).map(\.delivery) }
}

@Suite("Channels whose names look alike") struct LookalikeTests {
    @Test("have each its own webhooks")
    func webhooks() async throws {
        // "é" as one code point and as two: equal as Swift strings, but different in the store.
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let (first, second, below) = (try ScriptedServer(), try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(first, channels: [.exact(names[0])])
            try await fixture.webhook(second, channels: [.exact(names[1])])
            try await fixture.webhook(below, channels: [.below(names[1] + ".")])
            var events: [String] = []
            for name in [names[0], names[1], names[0] + ".a", names[1] + ".a"] {
                events.append(try await fixture.emit(channel: name).id)
            }
            await fixture.recorded(3)
            #expect(first.requests.value.compactMap { $0["webhook-id"] } == [events[0]])
            #expect(second.requests.value.compactMap { $0["webhook-id"] } == [events[1]])
            #expect(below.requests.value.compactMap { $0["webhook-id"] } == [events[3]])
        }
    }
}
