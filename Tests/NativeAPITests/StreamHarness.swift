import ChatCore
import ChatModel
import ChatSupport
import LongPolling
import HTTPClient
import HTTPServer
import InboundHooks
import JSON
import Locking
import Signing
import SQLiteEngine
import Testing
import TestSupport
import Webhooks

@testable import NativeAPI

/// A store in memory, the chat, and the native API on a real socket. The test advances the clock.
struct StreamHarness: Sendable {
    static let app = ChatFixture.app

    let service: ChatService
    let api: NativeAPI
    let streams: LiveStreams
    let loop: Loop
    let server: Server
    let clock: ManualClock

    var port: UInt16 { server.address?.port ?? 0 }

    /// Runs `body` against a running gateway and stops the gateway afterwards.
    ///
    /// - Parameter path: A database file, for a gateway that is restarted.
    static func run(
        path: String = ":memory:", clock: ManualClock = ManualClock(), limits: Limits = Limits(),
        adjust: (inout ServerOptions) -> Void = { _ in },
        routes: (inout Router, LiveStreams) -> Void = { _, _ in },
        through wrap: (any Engine) -> any Engine = { $0 },
        _ body: (StreamHarness) async throws -> Void
    ) async throws {
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet))
        try await start(on: engine, wrap(engine), clock, limits, adjust: adjust, routes: routes, body)
        await engine.close()
    }

    /// Runs `body` against the nodes 1 and 2, which share a store in memory.
    static func runTwo(
        limits: Limits = Limits(), isComplete: Bool = false, ticks: SecondTimer.Source = .manual,
        _ body: (_ one: StreamHarness, _ two: StreamHarness, NodeEngine.Nodes) async throws -> Void
    ) async throws {
        try await run(nodes: 2, limits: limits, isComplete: isComplete, ticks: ticks) {
            try await body($0[0], $0[1], $1)
        }
    }

    /// Runs `body` against several nodes, which have the numbers from 1 on and share a store in memory.
    static func run(
        nodes count: Int, limits: Limits = Limits(), isComplete: Bool = false, ticks: SecondTimer.Source = .manual,
        _ body: ([StreamHarness], NodeEngine.Nodes) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: ":memory:", limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet))
        let nodes = NodeEngine.Nodes(Set((1...count).map(Int64.init)))
        func next(_ started: [StreamHarness]) async throws {
            guard started.count < count else { return try await body(started, nodes) }
            let front = NodeEngine(engine, node: Int64(started.count + 1), of: nodes)
            try await start(on: engine, front, clock, limits, isComplete: isComplete, ticks: ticks) {
                try await next(started + [$0])
            }
        }
        try await next([])
        await engine.close()
    }

    /// Starts a node, runs `body`, and stops the node.
    ///
    /// - Parameter isComplete: true to run webhooks and sources too.
    private static func start(
        on engine: SQLiteEngine, _ front: any Engine, _ clock: ManualClock, _ limits: Limits, isComplete: Bool = false,
        ticks: SecondTimer.Source = .manual, adjust: (inout ServerOptions) -> Void = { _ in },
        routes: (inout Router, LiveStreams) -> Void = { _, _ in },
        _ body: (StreamHarness) async throws -> Void
    ) async throws {
        let logger = ChatFixture.quiet
        try await withLoop { loop in
            let chat = try await ChatFixture(
                on: engine, behind: front, limits: limits, clock: clock.wallClock, executor: loop)
            let service = chat.service
            let client = try Client(options: ClientOptions())
            let streams = LiveStreams(polls: LongPollTable(service: service, loop: loop, secondTimer: ticks))
            let webhooks = WebhookService(service: service, client: client, logger: logger)
            let inbound = InboundService(service: service, logger: logger)
            let api = NativeAPI(service: service, webhooks: webhooks, inbound: inbound, streams: streams)
            var router = Router()
            api.addRoutes(to: &router)
            routes(&router, streams)
            var options = ServerOptions()
            options.deadlines.drain = .seconds(5)
            adjust(&options)
            let server = Server(options: options, router: router, loop: loop, logger: logger)
            let parts: [ChatFixture.Part] = [
                { try await inbound.run(whenReady: $0) }, { try await webhooks.run(whenReady: $0) },
            ]
            let serving = ChatFixture.serving(server) { await api.drainStreams() }
            do {
                try await chat.runOpen((isComplete ? parts : []) + [serving]) {
                    try await body(
                        StreamHarness(
                            service: service, api: api, streams: streams, loop: loop, server: server, clock: clock))
                }
            } catch {
                await engine.close()
                throw error
            }
            await client.shutdown()
        }
    }
}

// MARK: - Actions

extension StreamHarness {
    var chat: ChatAccess {
        service.chat(for: Caller(app: Self.app, credential: "test", scopes: [.admin]))
    }

    /// Emits one event; its data is `{"n":<n>}` unless given.
    @discardableResult
    func emit(
        _ channel: String, _ n: Int = 0, type: String = "order.paid", data: String? = nil
    ) async throws -> Timetoken {
        let text = JSONText(trusted: Array((data ?? "{\"n\":\(n)}").utf8))
        return try await chat.emit(EventDraft.event(channel: channel, type: type, data: text)).event.timetoken
    }

    /// Creates a key of the app.
    func key(
        _ scopes: Scopes = [.read], channels: [NamePattern] = [.all], types: [NamePattern] = [.all],
        expiresIn life: Duration? = nil
    ) async throws -> IssuedKey {
        try await service.keyring.issueKey(
            name: "test", scopes: scopes, channels: channels, types: types,
            expires: life.map { service.clock.now.adding($0) }, by: chat.caller)
    }

    /// Opens a stream. With an id it is a reconnect.
    func open(
        _ query: String, as key: String? = "dev", lastEventID: String? = nil, accept: String? = nil,
        receiveBuffer: Int32? = nil
    ) async throws -> EventStreamReader {
        var headers: [(String, String)] = []
        if let key { headers.append(("Authorization", "Bearer \(key)")) }
        if let lastEventID { headers.append(("Last-Event-ID", lastEventID)) }
        if let accept { headers.append(("Accept", accept)) }
        return try await EventStreamReader(
            port: port, target: "/v1/stream?\(query)", headers: headers, receiveBuffer: receiveBuffer)
    }

    /// Opens a stream and reads its first block.
    func openReady(
        _ query: String, as key: String? = "dev", lastEventID: String? = nil, receiveBuffer: Int32? = nil
    ) async throws -> (reader: EventStreamReader, id: String, cursor: String) {
        let reader = try await open(query, as: key, lastEventID: lastEventID, receiveBuffer: receiveBuffer)
        try #require(reader.status == 200, "\(query)")
        let ready = try #require(await reader.next())
        #expect(ready.type == "stream.ready")
        return (reader, ready["stream"] ?? "", ready["cursor"] ?? "")
    }

    func call(
        _ method: String, _ target: String, _ body: String = "", as key: String = "dev",
        headers: [(name: String, value: String)] = []
    ) async throws -> HTTPExchange {
        try await HTTPExchange.send(
            method, target, port: port, headers: [("Authorization", "Bearer \(key)")] + headers, body: body)
    }

    func tick(_ count: Int = 1) async {
        for _ in 0..<count { await streams.polls.pass() }
    }

    /// Waits until a condition of the streams holds.
    func until(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: @Sendable (isolated LiveStreams) -> Bool
    ) async {
        await waitUntil(sourceLocation: sourceLocation) { await streams.holds(condition) }
    }
}

extension LiveStreams {
    /// The number of open streams.
    var streamCount: Int { roll.count }

    func holds(_ condition: @Sendable (isolated LiveStreams) -> Bool) -> Bool { condition(self) }
}

// MARK: - Reading

extension EventStreamParser.Event {
    var json: JSONValue? { try? JSONDocument(Array(data.utf8)).root }
    /// A member of the data of a control block.
    subscript(name: String) -> String? { json?[name]?.string }
    /// The number in the data of an event that `emit` sent.
    var number: Int? { json?["data"]?["n"]?.integer.map(Int.init) }
}

extension EventStreamReader {
    /// The numbers of the next `count` events, without control blocks.
    func numbers(_ count: Int) async -> [Int] {
        var numbers: [Int] = []
        while numbers.count < count, let event = await next() {
            if let number = event.number { numbers.append(number) }
        }
        return numbers
    }

    /// Everything up to the end of the stream.
    func rest() async -> [EventStreamParser.Event] {
        var events: [EventStreamParser.Event] = []
        while let event = await next() { events.append(event) }
        return events
    }
}

extension HTTPExchange {
    var json: JSONValue? { try? JSONDocument(body).root }
}

/// Names are compared as bytes: "é" as one code point and as two looks the same and is equal as a Swift `String`.
@Suite("Channels whose names look alike", .timeLimit(.minutes(2))) struct LookalikeTests {
    private let composed = "caf%C3%A9"
    private let decomposed = "cafe%CC%81"

    @Test("have each its own events, history and streams")
    func apart() async throws {
        try await StreamHarness.run { gateway in
            let (first, _, _) = try await gateway.openReady("channel=\(composed)")
            let (second, _, _) = try await gateway.openReady("channel=\(decomposed)")
            let (both, _, _) = try await gateway.openReady("channel=\(composed)&channel=\(decomposed)")
            for (number, name) in [composed, decomposed, composed].enumerated() {
                let body = #"{"type":"order.paid","data":{"n":\#(number)}}"#
                #expect(try await gateway.call("POST", "/v1/channels/\(name)/events", body).status == 201)
            }
            #expect(await first.numbers(2) == [0, 2])
            #expect(await second.numbers(1) == [1])
            #expect(await both.numbers(3) == [0, 1, 2])
            #expect(try await count(composed, gateway) == 2)
            #expect(try await count(decomposed, gateway) == 1)
        }
    }

    @Test("may stand side by side in one request")
    func sideBySide() async throws {
        try await StreamHarness.run { gateway in
            let channels = #"["caf\u00e9","cafe\u0301"]"#
            let emitted = try await gateway.call(
                "POST", "/v1/events", #"{"channels":\#(channels),"type":"order.paid","data":{}}"#)
            #expect(emitted.status == 201)
            let histories = try await gateway.call("POST", "/v1/history", #"{"channels":\#(channels)}"#)
            #expect(histories.json?["channels"]?.members?.count == 2)
            #expect(try await count(composed, gateway) == 1)
            #expect(try await count(decomposed, gateway) == 1)
        }
    }

    private func count(_ channel: String, _ gateway: StreamHarness) async throws -> Int64? {
        let history = try await gateway.call("GET", "/v1/channels/\(channel)/events")
        return history.json?["data"].map { Int64($0.count) }
    }
}
