import ChatModel
import ChatSupport
import Foundation
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

/// An app with channels to moderate, on a clock that the test controls.
struct Room: Sendable {
    let service: ChatService
    let clock: ManualClock

    /// The app with the rights of its admin.
    var chat: ChatAccess { service.chat(for: ChatFixture.owner) }

    /// The app with the rights of one user's credential.
    func chat(of user: String) -> ChatAccess {
        service.chat(
            for: Caller(app: ChatFixture.app, credential: "token_\(user)", scopes: [.emit, .read], user: user))
    }

    /// True when the user's own credential may read the channel.
    func mayHear(_ user: String, in channel: String) async throws -> Bool {
        try await chat(of: user).refusal(to: .receiving, of: user, in: channel) == nil
    }

    static func open(
        path: String = ":memory:", limits: Limits = Limits(),
        clock: ManualClock = ManualClock(), _ body: @Sendable (Room) async throws -> Void
    ) async throws {
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet))
        let house = try await ChatFixture(on: engine, limits: limits, clock: clock.wallClock)
        try await house.run { try await body(Room(service: house.service, clock: clock)) }
    }

    /// Calls `body` with the path of a store that is deleted afterwards.
    static func inFile(_ body: (String) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await body(folder.database)
    }

    func advance(_ duration: Duration) { clock.advance(by: duration) }

    /// Writes records as they are, by the same path as every operation.
    func put(_ channel: ChannelRecord) async throws {
        try await put(channel.body, ChannelRecord.key(channel.id, in: ChatFixture.app))
    }

    func put(_ member: MembershipRecord) async throws {
        try await put(
            member.body, MembershipRecord.key(member.user, member.channel, in: ChatFixture.app),
            parent: member.channel)
    }

    func put(_ restriction: RestrictionRecord) async throws {
        try await put(
            restriction.body, RestrictionRecord.key(restriction.user, restriction.channel, in: ChatFixture.app),
            parent: restriction.channel)
    }

    func put(_ body: JSONText, _ key: RecordKey, parent: String? = nil) async throws {
        _ = try await service.decide([key]) { _ in
            Decision((), changes: [RecordChange(key, body: body, parent: parent)])
        }
    }

    func remove(_ key: RecordKey) async throws {
        _ = try await service.decide([key]) { _ in Decision((), changes: [RecordChange(key, body: nil)]) }
    }

    /// Creates a channel with these joined members.
    func establish(
        _ id: String, _ kind: ChannelKind = .group, members: [String] = [], operators: [String] = [],
        customType: String? = nil
    ) async throws {
        var channel = ChannelRecord(id: id, kind: kind)
        channel.operators = operators
        channel.customType = customType
        try await put(channel)
        for user in members {
            var member = MembershipRecord(user: user, channel: id, state: .joined)
            member.joined = service.clock.now
            try await put(member)
        }
        let counts = MemberCounts(all: members.count, joined: members.count)
        try await put(counts.body, MemberCounts.key(id, in: ChatFixture.app))
    }

    @discardableResult
    func say(_ text: String, in channel: String, by user: String?) async throws -> Event {
        try await chat.emit(.message(channel: channel, data: Self.text(text), user: user, meta: nil)).event
    }

    static func text(_ text: String) -> JSONText { JSONText { $0.object { $0.member("text", text) } } }
}

extension JSONWriter {
    fileprivate mutating func object(_ print: (inout JSONWriter) -> Void) {
        beginObject()
        print(&self)
        endObject()
    }
}
