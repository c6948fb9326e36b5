import ChatModel
import ChatSupport
import JSON
import JSONSchema
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

/// A chat on stopped clocks, for tests of arrivals and departures.
struct PresenceHouse: Sendable {
    let house: ChatFixture
    let clock: ManualClock

    static func run(
        limits: Limits = Limits(), _ body: @escaping @Sendable (PresenceHouse) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let settings = SQLiteEngineSettings(
            path: ":memory:", limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet)
        let house = try await ChatFixture(
            on: SQLiteEngine(settings), presence: MemoryPresenceStore(limits: limits) { clock.uptime },
            limits: limits, clock: clock.wallClock)
        let subject = PresenceHouse(house: house, clock: clock)
        try await house.run { try await body(subject) }
    }

    var tracker: PresenceTracker { house.service.presence }
    /// The app with the rights of its operator.
    var chat: ChatAccess { chat(ChatFixture.owner) }
    func chat(_ caller: Caller) -> ChatAccess { house.service.chat(for: caller, device: "desk", cause: "req_1") }

    /// The app with the rights of the user's own credential.
    func chat(of user: String) -> ChatAccess {
        chat(Caller(app: ChatFixture.app, credential: "key_\(user)", scopes: [.emit, .read], user: user))
    }

    func user(_ name: String) -> UserID { UserID(name, in: ChatFixture.app) }
    func channel(_ name: String) -> ChannelID { ChannelID(name, in: ChatFixture.app) }

    /// Completes all requests made so far, advances the clock and lets the tracker run.
    func pass(_ duration: Duration) async throws {
        try await tracker.tick()
        clock.advance(by: duration)
        try await tracker.tick()
    }

    /// The events in the log after all requests so far have completed, each validated against the schema of its type.
    func events(_ pattern: NamePattern = .all) async throws -> [Event] {
        try await tracker.tick()
        let channels = ChannelSet(app: ChatFixture.app, isAll: true)
        let events = try await house.engine.log.events(in: channels, after: .zero, limit: 20_000).items
            .filter { $0.audience != .wire }
        for event in events {
            let type = try #require(BuiltInCatalogue.named(event.type))
            let report = try Schema(JSONDocument(Array(type.schema.utf8))).report(on: JSONDocument(event.data).root)
            #expect(report.violations.isEmpty, "\(event.type) \(event.data)")
        }
        return events.filter { pattern.matches($0.type) }
    }

    /// The event types in order, without the subject.
    func story(_ pattern: NamePattern = .all) async throws -> [String] {
        try await events(pattern).map { event in
            let user = try JSONDocument(event.data).root["user"]?["id"]?.string ?? ""
            return user.isEmpty ? event.type : "\(event.type) \(user)"
        }
    }

    /// Writes a record without the operations that usually create it.
    func write(_ change: RecordChange) async throws {
        _ = try await house.service.decide([]) { _ throws(ChatError) in Decision((), changes: [change]) }
    }

    func makeChannel(_ name: String, _ kind: ChannelKind) async throws {
        let record = ChannelRecord(id: name, kind: kind)
        try await write(RecordChange(ChannelRecord.key(name, in: ChatFixture.app), body: record.body))
    }

    func makeUser(_ id: String, name: String) async throws {
        var record = UserRecord(id: id)
        record.name = name
        try await write(RecordChange(UserRecord.key(id, in: ChatFixture.app), body: record.body))
    }

    func ban(_ user: String, from channel: String) async throws {
        let record = RestrictionRecord(user: user, channel: channel, isBanned: true, isMuted: false)
        try await write(
            RecordChange(
                RestrictionRecord.key(user, channel, in: ChatFixture.app), body: record.body, parent: channel))
    }

    /// Expects the call to fail with this error.
    func refusal(
        _ code: ChatError.Code, _ slug: String?, location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("nothing was refused, expected \(code)", sourceLocation: location)
        } catch let error as ChatError {
            #expect(error.code == code && error.slug == slug, "\(error)", sourceLocation: location)
        } catch {
            Issue.record(error, sourceLocation: location)
        }
    }
}
