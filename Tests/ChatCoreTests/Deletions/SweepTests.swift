import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("The remains of a deleted channel") struct SweepTests {
    private static let mallory = RestrictionRequest(isBan: true)

    /// A chat in which only the test starts a sweep.
    private func withIdleChat(
        path: String = ":memory:", _ body: (ChatAccess) async throws -> Void
    ) async throws {
        var limits = Limits()
        limits.pageMost = 3
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: limits, clock: .system, logger: ChatFixture.quiet))
        let house = try await ChatFixture(on: engine, limits: limits, clock: .system)
        let presence = Task { await house.service.presence.run() }
        do {
            try await body(house.service.chat(for: ChatFixture.owner))
        } catch {
            await engine.close()
            throw error
        }
        presence.cancel()
        await engine.close()
    }

    /// Creates a channel with eight members and one banned user.
    private func establish(_ chat: ChatAccess) async throws {
        try await chat.makeChannel("crew", .group, users: (0..<7).map { "user\($0)" }, by: nil)
        _ = try await chat.restrict("mallory", in: "crew", Self.mallory)
    }

    private func restriction(_ user: String, _ chat: ChatAccess) async throws -> Record? {
        try await chat.directory.read(RestrictionRecord.key(user, "crew", in: chat.app))
    }

    @Test("include no participant, even if an open channel of the name is created before the sweep")
    func nobodyInside() async throws {
        try await withIdleChat { chat in
            try await chat.makeChannel("lobby", .open, users: [], by: nil)
            _ = try await chat.enter("ana", into: "lobby")
            #expect(try await chat.delete(channel: "lobby"))
            try await chat.makeChannel("lobby", .open, users: [], by: nil)
            #expect(try await chat.enter("ben", into: "lobby").count == 1)
        }
    }

    @Test("are hidden from a caller that reads them before the sweep and uses them after it")
    func readBefore() async throws {
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: ":memory:", clock: .system, logger: ChatFixture.quiet))
        let front = HeldEngine(engine, holding: .restriction)
        let house = try await ChatFixture(on: engine, behind: front, clock: .system)
        let chat = house.service.chat(for: ChatFixture.owner)
        let presence = Task { await house.service.presence.run() }
        try await establish(chat)
        #expect(try await chat.delete(channel: "crew"))
        async let refusal = chat.refusal(to: .being, of: "mallory", in: "crew")
        await front.held.reached.wait(count: 1)
        #expect(await chat.service.sweepDeleted())
        #expect(chat.service.pendingDeletions.pending.isEmpty)
        front.held.released.open()
        #expect(try await refusal == nil)
        presence.cancel()
        await engine.close()
    }

    @Test("are visible to no caller before they are swept, and gone afterwards")
    func unseen() async throws {
        try await withIdleChat { chat in
            try await establish(chat)
            #expect(try await chat.channelAccess("user1").state == .joined)
            #expect(try await chat.delete(channel: "crew"))
            #expect(try await chat.memberships(of: "crew").count == 7)
            let list = RecordList(limit: 3)
            #expect(try await chat.members(of: "crew", list).items.isEmpty)
            #expect(try await chat.member("user1", of: "crew") == nil)
            #expect(try await chat.memberships(of: "user1", list).items.isEmpty)
            #expect(try await chat.channelAccess("user1").state == nil)
            #expect(try await chat.restrictions(in: "crew", RecordList(limit: 3)).items.isEmpty)
            #expect(try await chat.channelAccess("mallory").restriction == nil)
            try await expect(slug: "no_restriction") { _ = try await chat.restriction(of: "mallory", in: "crew") }
            try await expect(slug: "no_such_member") { _ = try await chat.mark(.read, "user1", in: "crew") }
            for user in ["user1", "mallory"] {
                let reading = try await MembershipSnapshot.read(
                    UserID(user, in: chat.app), naming: [], from: chat.directory, chat.tracker.store,
                    pendingDeletions: chat.service.pendingDeletions, now: chat.service.clock.now)
                #expect(reading.places.isEmpty)
            }

            #expect(await chat.service.sweepDeleted())
            #expect(try await chat.memberships(of: "crew").isEmpty)
            #expect(try await restriction("mallory", chat) == nil)
            #expect(try await chat.directory.list(RecordQuery(.sweep, in: chat.app, limit: 3)).items.isEmpty)
            #expect(chat.service.pendingDeletions.pending.isEmpty)
        }
    }

    @Test("do not affect a new channel of the same name, which the sweep leaves alone")
    func newChannel() async throws {
        try await withIdleChat { chat in
            try await establish(chat)
            try await chat.delete(channel: "crew")
            let view = try await chat.makeChannel("crew", .public)
            #expect(view.counts == MemberCounts(all: 1, joined: 1))
            #expect(try await chat.join("user1", to: "crew").isNew)
            _ = try await chat.restrict("user2", in: "crew", Self.mallory)
            try await expect(slug: "no_such_member") { _ = try await chat.mark(.read, "user3", in: "crew") }
            #expect(try await chat.join("mallory", to: "crew").isNew)
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 3, joined: 3))

            #expect(await chat.service.sweepDeleted())
            #expect(try await chat.memberships(of: "crew").map(\.user) == ["ana", "mallory", "user1"])
            #expect(try await restriction("mallory", chat) == nil)
            #expect(try await chat.restriction(of: "user2", in: "crew").isBanned)
        }
    }

    @Test("are swept by the next start when the last run ended in between")
    func restart() async throws {
        try await Room.inFile { path async throws in
            try await withIdleChat(path: path) { chat async throws in
                try await establish(chat)
                try await chat.delete(channel: "crew")
            }
            try await withChat(path: path) { chat async throws in
                #expect(try await chat.restrictions(in: "crew", RecordList(limit: 3)).items.isEmpty)
                #expect(await chat.service.sweepDeleted())
                #expect(try await chat.memberships(of: "crew").isEmpty)
                #expect(try await restriction("mallory", chat) == nil)
            }
        }
    }

    @Test("include no participant, if it was open")
    func participants() async throws {
        try await withIdleChat { chat in
            try await chat.makeChannel("lobby", .open)
            for user in ["ana", "ben", "carl", "dora"] { _ = try await chat.enter(user, into: "lobby") }
            _ = try await chat.appear("ana", on: "lobby")
            try await chat.delete(channel: "lobby")
            #expect(await chat.service.sweepDeleted())
            #expect(!chat.tracker.isInside("ana", chat.channel("lobby")))
            #expect(try await chat.occupants(of: "lobby", limit: 3).occupants.map(\.user) == ["ana"])
            let told = try await chat.events(on: "lobby")
            #expect(told.count { $0.type == "participant.exited" } == 4)
            try await chat.makeChannel("lobby", .open)
            #expect(try await chat.participants(of: "lobby", limit: 3).count == 0)
        }
    }
}

extension ChatAccess {
    fileprivate func channelAccess(_ user: String) async throws -> UserRights {
        try await service.accessCache.channelAccess(of: user, in: channel("crew")).user
    }
}
