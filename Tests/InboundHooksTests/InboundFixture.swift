import ChatCore
import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import InboundHooks

/// A chat with inbound hooks, as in a gateway.
struct InboundFixture: Sendable {
    static let app = ChatFixture.app
    static let owner = ChatFixture.owner
    /// 2023-11-14T22:13:20Z, the time of the signature vectors.
    static let start = Timetoken(17_000_000_000_000_000)

    private let chat: ChatFixture
    let inbound: InboundService
    /// Advanced by tests.
    let clock: ManualClock

    var engine: SQLiteEngine { chat.engine }
    var service: ChatService { chat.service }
    var registry: SourceRegistry { inbound.registry }
    var gate: PostReceiver { inbound.receiver }

    /// Starts a fixture, runs `body` once everything is ready, and stops it.
    static func with(
        limits: Limits = Limits(), path: String = ":memory:",
        _ body: @escaping @Sendable (InboundFixture) async throws -> Void
    ) async throws {
        let fixture = try await InboundFixture(limits, path)
        try await fixture.chat.run([{ try await fixture.inbound.run(whenReady: $0) }]) { try await body(fixture) }
    }

    private init(_ limits: Limits, _ path: String) async throws {
        let clock = ManualClock(ticks: Self.start.rawValue)
        let wall = clock.wallClock
        self.clock = clock
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: limits, clock: wall, logger: ChatFixture.quiet))
        chat = try await ChatFixture(on: engine, limits: limits, clock: wall, apps: ["demo", "other"])
        inbound = InboundService(service: chat.service, logger: ChatFixture.quiet)
    }
}

extension InboundFixture {
    @discardableResult
    func put(_ id: String, _ document: String, by caller: Caller = InboundFixture.owner) async throws -> Source {
        try await registry.put(id, try JSONDocument(Array(document.utf8)), by: caller).source
    }

    func patch(_ id: String, _ document: String) async throws -> Source {
        try await registry.put(id, try JSONDocument(Array(document.utf8)), isPatch: true, by: Self.owner).source
    }

    /// The writable members of a source as it is shown.
    static func writable(_ shown: JSONText) -> String {
        let members = (shown.rawMembers() ?? []).filter { SourceSettings.members.contains($0.name) }
        return "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// Creates a source that accepts the body unchanged.
    @discardableResult
    func put(_ id: String, scheme: String, secret: String) async throws -> Source {
        try await put(
            id,
            #"{"scheme":"\#(scheme)","secrets":["\#(secret)"],"mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#
        )
    }

    /// The stored events of a channel, oldest first.
    func events(on channel: String) async throws -> [Event] {
        try await engine.log.history([HistoryRequest(channel: ChannelID(channel, in: Self.app), limit: 1000)])[0]
            .items
    }
}

extension InboundPost {
    init(_ headers: [Field] = [], query: [Field] = [], text: String) {
        self.init(headers: headers, query: query, body: Array(text.utf8))
    }
}

/// Runs `body` and returns the error it must throw.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> ChatError {
    do {
        try await body()
    } catch let error as ChatError {
        return error
    }
    return try #require(nil, "nothing was thrown", sourceLocation: sourceLocation)
}
