import ChatModel
import JSON
import JSONSchema
import Testing

@testable import ChatCore

extension ChatAccess {
    /// The app with the rights of a user's own credential.
    func of(_ user: String, device: String? = nil) -> ChatAccess {
        service.chat(
            for: Caller(app: app, credential: "key_\(user)", scopes: [.emit, .read], user: user), device: device,
            cause: "req")
    }

    @discardableResult
    func say(_ text: String, in channel: String = "room", by user: String? = nil) async throws -> Timetoken {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("text", text)
            writer.endObject()
        }
        let named = user ?? caller.user
        return try await emit(.message(channel: channel, data: data, user: named, meta: nil)).event.timetoken
    }

    /// Creates a channel's record.
    func make(_ id: String, _ kind: ChannelKind, operators: [String] = []) async throws {
        var record = ChannelRecord(id: id, kind: kind)
        record.operators = operators
        _ = try await directory.write([RecordChange(ChannelRecord.key(id, in: app), body: record.body)])
    }

    func join(_ users: String..., to channel: String = "room") async throws {
        let changes = users.map { user in
            let record = MembershipRecord(user: user, channel: channel, state: .joined)
            return RecordChange(MembershipRecord.key(user, channel, in: app), body: record.body, parent: channel)
        }
        _ = try await directory.write(changes)
    }

    /// The events of a channel other than messages, each validated against the schema of its type.
    func told(on channel: String = "room") async throws -> [Event] {
        let events = try await kept(on: channel).filter { $0.type != BuiltInTypes.messageCreated }
        for event in events {
            let type = try #require(BuiltInCatalogue.named(event.type))
            let schema = try Schema(JSONDocument(Array(type.schema.utf8)))
            let report = schema.report(on: try JSONDocument(event.data).root)
            #expect(report.violations.isEmpty, "\(event.type) \(event.data)")
        }
        return events
    }
}

extension Event {
    var value: JSONValue? { try? JSONDocument(data).root }
}

/// Runs `body` `count` times concurrently.
func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        try await group.waitForAll()
    }
}
