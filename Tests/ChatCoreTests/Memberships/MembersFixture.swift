import ChatModel
import JSON
import JSONSchema
import Testing

@testable import ChatCore

extension ChatAccess {
    /// The app with the rights of a user's own credential.
    func acting(as user: String) -> ChatAccess {
        service.chat(
            for: Caller(app: app, credential: "key_\(user)", scopes: [.emit, .read], user: user), cause: "req_1")
    }

    /// Creates a channel by its first operator, which is `ana` by default.
    @discardableResult func makeChannel(
        _ id: String = "crew", _ kind: ChannelKind = .group, users: [String] = [], by user: String? = "ana"
    ) async throws -> ChannelView {
        var new = NewChannel(kind: kind, id: id)
        new.users = users
        return try await make(new, by: user).record
    }

    func counts(of channel: String) async throws -> MemberCounts {
        MemberCounts(try await directory.read(MemberCounts.key(channel, in: app)))
    }

    func membership(_ user: String, _ channel: String = "crew") async throws -> MembershipRecord? {
        try await directory.read(MembershipRecord.key(user, channel, in: app)).flatMap(MembershipRecord.init)
    }

    func memberships(of channel: String) async throws -> [MembershipRecord] {
        var query = RecordQuery(.membership, in: app, limit: 1000)
        query.parent = channel
        return try await directory.list(query).items.compactMap(MembershipRecord.init)
    }

    /// Every event on the channels for native readers, including those that are not kept, in order. Without a channel:
    /// every event of the app.
    func events(on channels: String..., after: Timetoken = .zero) async throws -> [Event] {
        let patterns = channels.isEmpty ? [.all] : channels.compactMap { NamePattern($0) }
        let set = ChannelSet(app: app, patterns: patterns)
        var found: [Event] = []
        var position = after
        while true {
            let page = try await log.events(in: set, after: position, limit: 500)
            found += page.items.filter { $0.audience != .wire }
            guard page.hasMore else { return found }
            position = page.position
        }
    }

    /// The types of the events since a position, in order.
    func happened(on channels: String..., after: Timetoken) async throws -> [String] {
        try await events(after: after).filter { channels.isEmpty || channels.contains($0.channel.name) }.map(\.type)
    }

    var now: Timetoken {
        get async throws { try await log.watermark(of: app) }
    }
}

/// Expects a refusal with this short name.
func expect(
    slug: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws {
    let error = try await refusal(sourceLocation: sourceLocation, body)
    #expect(error.slug == slug, "\(error)", sourceLocation: sourceLocation)
}

/// Validates the data of events against the schemas of their types.
func expectValid(_ events: [Event], sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(!events.isEmpty, sourceLocation: sourceLocation)
    for event in events {
        let type = try #require(BuiltInCatalogue.named(event.type), sourceLocation: sourceLocation)
        let schema = try Schema(JSONDocument(Array(type.schema.utf8)))
        let report = schema.report(on: try JSONDocument(event.data).root)
        #expect(report.violations.isEmpty, "\(event.type): \(event.data)", sourceLocation: sourceLocation)
        #expect(event.retention == (type.retention), "\(event.type)", sourceLocation: sourceLocation)
    }
}

extension Event {
    var json: JSONValue? { try? JSONDocument(data).root }
}
