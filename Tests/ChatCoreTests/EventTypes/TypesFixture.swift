import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import Testing

@testable import ChatCore

let orderSchema = #"{"type":"object","required":["amount"],"properties":{"amount":{"type":"integer"}}}"#

func json(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

func proposal(_ schema: String, rule: String? = nil, forced: String? = nil) -> SchemaProposal {
    var proposal = SchemaProposal(schema: json(schema))
    proposal.compatibility = rule.flatMap(CompatibilityRule.init)
    proposal.forced = forced
    return proposal
}

func settings(_ mode: EventType.Mode = .enforce, rule: String = "backward") -> EventTypeSettings {
    var settings = EventTypeSettings()
    settings.mode = mode
    settings.compatibility = CompatibilityRule(rule) ?? CompatibilityRule()
    return settings
}

func orderPaid(_ data: String, type: String = "order.paid") -> EventDraft {
    EventDraft.event(channel: "orders.eu", type: type, data: json(data))
}

/// Runs `body` with a chat over its own engine, with the rights of the app's admin.
func withChat(
    path: String = ":memory:", limits: Limits = Limits(), _ body: @Sendable (ChatAccess) async throws -> Void
) async throws {
    let engine = try await SQLiteEngine(
        SQLiteEngineSettings(path: path, limits: limits, clock: .system, logger: ChatFixture.quiet))
    let house = try await ChatFixture(on: engine, limits: limits, clock: .system, apps: ["demo", "other"])
    try await house.run { try await body(house.service.chat(for: ChatFixture.owner)) }
}

extension ChatAccess {
    func with(_ scopes: Scopes, types: [NamePattern] = [.all], in app: String = "demo") -> ChatAccess {
        service.chat(for: Caller(app: AppID(app), credential: "key_x", scopes: scopes, types: types))
    }

    /// Declares `order.paid` with one version.
    func declareOrder(_ mode: EventType.Mode = .enforce, rule: String = "backward") async throws {
        _ = try await declare("order.paid", settings(mode, rule: rule))
        _ = try await addVersion(proposal(orderSchema), to: "order.paid")
    }

    /// The stored events of a channel, oldest first.
    func kept(on channel: String) async throws -> [Event] {
        try await log.history([HistoryRequest(channel: self.channel(channel), limit: 1000)])[0].items
    }
}

/// Runs `body` and returns the error it must throw.
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> ChatError {
    do {
        try await body()
    } catch let error as ChatError {
        return error
    }
    return try #require(nil, "nothing was thrown", sourceLocation: sourceLocation)
}

/// Expects a refusal with this code. (A closure inside `#expect` can resolve to a different overload.)
func expect(
    _ code: ChatError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws {
    let error = try await refusal(sourceLocation: sourceLocation, body)
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
}
