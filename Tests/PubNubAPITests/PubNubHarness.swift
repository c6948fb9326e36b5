import ChatCore
import ChatModel
import ChatSupport
import LongPolling
import HTTPServer
import JSON
import Locking
import SQLiteEngine
import Testing
import TestSupport

@testable import PubNubAPI

/// A store in memory, the chat, and PubNub's wire on a real socket. The test advances the clock.
struct PubNubHarness: Sendable {
    static let app = ChatFixture.app

    let service: ChatService
    let polls: LongPollTable
    let server: Server
    let clock: ManualClock

    var port: UInt16 { server.address?.port ?? 0 }

    /// Runs `body` against a running gateway and stops the gateway afterwards.
    ///
    /// - Parameters:
    ///   - connections: The connection limit, if it is not the default.
    ///   - routes: Adds a test's own routes.
    static func run(
        limits: Limits = Limits(), connections: Int? = nil,
        routes: (PubNubAPI, inout Router) -> Void = { _, _ in }, _ body: (PubNubHarness) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await withLoop { loop in
            var settings = SQLiteEngineSettings(
                path: ":memory:", limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet)
            settings.uptime = { clock.uptime }
            let chat = try await ChatFixture(
                on: try await SQLiteEngine(settings),
                presence: MemoryPresenceStore(limits: limits) { clock.uptime }, limits: limits,
                clock: clock.wallClock, apps: ["demo", "other"], executor: loop)
            let service = chat.service
            let polls = LongPollTable(service: service, loop: loop, secondTimer: .manual)
            let api = PubNubAPI(service: service, polls: polls)
            var router = Router()
            api.addRoutes(to: &router)
            routes(api, &router)
            var options = ServerOptions()
            options.deadlines.drain = .seconds(5)
            if let connections { options.limits.connections = connections }
            let server = Server(options: options, router: router, loop: loop, logger: ChatFixture.quiet)
            try await chat.run([ChatFixture.serving(server) { await polls.drain() }]) {
                try await body(PubNubHarness(service: service, polls: polls, server: server, clock: clock))
            }
        }
    }

    // MARK: Actions

    var chat: ChatAccess {
        service.chat(for: Caller(app: Self.app, credential: "test", scopes: [.admin]))
    }

    @discardableResult
    func get(_ target: String) async throws -> WireAnswer { try await call("GET", target) }

    func call(
        _ method: String, _ target: String, _ body: String = "", headers: [(String, String)] = []
    ) async throws -> WireAnswer {
        WireAnswer(try await HTTPExchange.send(method, target, port: port, headers: headers, body: body))
    }

    /// Publishes a payload; `query` begins with `&`.
    @discardableResult
    func publish(_ channel: String, _ json: String, _ query: String = "") async throws -> WireAnswer {
        try await get("/publish/pub-demo/sub-demo/0/\(channel)/0/\(Self.escaped(json))?uuid=ana\(query)")
    }

    @discardableResult
    func signal(_ channel: String, _ json: String, _ query: String = "") async throws -> WireAnswer {
        try await get("/signal/pub-demo/sub-demo/0/\(channel)/0/\(Self.escaped(json))?uuid=ana\(query)")
    }

    func history(_ channels: String, _ query: String = "") async throws -> WireAnswer {
        try await get("/v3/history/sub-key/sub-demo/channel/\(channels)?uuid=ana\(query)")
    }

    /// Waits until `count` polls are held.
    func untilHeld(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await waitUntil(sourceLocation: sourceLocation) { await polls.count == count }
    }

    /// A channel's events in the log, as every other reader sees them.
    func events(_ channel: String) async throws -> [Event] {
        let channel = ChannelID(channel, in: Self.app)
        return try await chat.history([HistoryRequest(channel: channel, limit: 100)])[0].items
    }

    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

/// One answer of the wire.
struct WireAnswer {
    let status: Int
    let text: String
    let headers: [(name: String, value: String)]

    init(_ exchange: HTTPExchange) {
        status = exchange.status
        text = String(decoding: exchange.body, as: UTF8.self)
        headers = exchange.headers
    }

    var json: JSONValue? { try? JSONDocument(Array(text.utf8)).root }
    subscript(name: String) -> JSONValue? { json?[name] }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The timetoken of a successful publish.
    var timetoken: String { json?[2]?.string ?? "" }

    /// The text without the digits of its timetokens, which a test cannot predict.
    var shape: String { text.replacing(/[0-9]{17}/, with: "<tt>") }
}

@Suite("A service of PubNub's that the gateway has not", .timeLimit(.minutes(2))) struct UnservedTests {
    @Test("is refused in the words of its own")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let file = try await gateway.call("POST", "/v1/files/sub-demo/channels/a/generate-upload-url", "{}")
            #expect(file.status == 402)
            #expect(
                file.text
                    == #"{"status":402,"error":{"message":"Files service not enabled for subkey","source":"Files","code":3005}}"#
            )
            for path in ["/v1/push/sub-key/sub-demo/devices/x", "/v2/push/sub-key/sub-demo/devices-apns2/x/remove"] {
                let push = try await gateway.get(path)
                #expect(push.status == 403)
                #expect(push["error"]?.string?.hasPrefix("Use of the mobile push notifications API") == true)
            }
        }
    }

    @Test("still may be announced: a file that lies elsewhere is a message of its own kind")
    func announcements() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            let payload = PubNubHarness.escaped(#"{"message":"look","file":{"id":"1","name":"a.png"}}"#)
            let sent = try await gateway.get(
                "/v1/files/publish-file/pub-demo/sub-demo/0/a/0/\(payload)?uuid=ana")
            #expect(sent.shape == #"[1,"Sent","<tt>"]"#)
            let batch = try await poller.batch("a", start)
            #expect(batch.items[0]["e"]?.integer == 4)
            let history = try await gateway.history("a", "&include_message_type=true")
            #expect(history["channels"]?["a"]?[0]?["message_type"]?.integer == 4)
        }
    }
}
