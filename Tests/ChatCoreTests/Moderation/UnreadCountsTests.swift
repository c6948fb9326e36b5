import ChatModel
import ChatSupport
import JSON
import Locking
import TestSupport
import Testing

@testable import ChatCore

@Suite("Unread counts in memory") struct UnreadCountsTests {
    private func user(_ name: String) -> UserID { UserID(name, in: ChatFixture.app) }

    @Test("are correct while more users ask at once than are held")
    func pressure() async throws {
        var limits = Limits()
        limits.unreadChannelsHeld = 1
        try await Room.open(limits: limits) { room in
            let users = (0..<20).map { "user\($0)" }
            try await room.establish("crew", members: users + ["ana"])
            room.advance(.seconds(1))
            try await room.say("1", in: "crew", by: "ana")
            try await atOnce(200) { number async throws in
                #expect(try await room.chat.unread(of: users[number % 20]).total == 1)
            }
        }
    }

    @Test("include a message again whose deletion was undone")
    func undone() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            room.advance(.seconds(1))
            let said = try await room.say("1", in: "crew", by: "ana").timetoken
            #expect(try await room.chat.unread(of: "ben").total == 1)
            try await room.chat.delete(said, in: "crew", isHard: false, by: nil)
            #expect(try await room.chat.unread(of: "ben").total == 0)
            let operation = try #require(try await room.chat.message(said, in: "crew").record.deletion?.at)
            _ = try await room.chat.undo(operation, to: said, in: "crew", by: nil)
            #expect(try await room.chat.unread(of: "ben").total == 1)
            // The count is read from the log again, where the deletion still stands.
            _ = try await room.chat.mark(.read, "ben", in: "crew", at: Timetoken(said.rawValue - 1))
            #expect(try await room.chat.unread(of: "ben").total == 1)
        }
    }

    @Test("include messages that arrive while two requests count")
    func atOnceWithMessages() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            room.advance(.seconds(1))
            try await atOnce(60) { number async throws in
                if number % 3 == 0 { try await room.say("\(number)", in: "crew", by: "ana") }
                _ = try await room.chat.unread(of: "ben")
                // Makes the count stale, so that a running count has to start over.
                if number % 7 == 0 {
                    await room.service.unread.makeStale(ChannelID("crew", in: ChatFixture.app), for: [user("ben")])
                }
            }
            #expect(try await room.chat.unread(of: "ben").total == 20)
        }
    }

    @Test("announce many in one commit")
    func telling() async throws {
        try await Room.open { room in
            let users = (0..<50).map { "user\($0)" }
            try await room.establish("crew", members: users + ["ana"])
            let store = UnreadCounts(
                engine: room.service.engine, pendingDeletions: room.service.pendingDeletions,
                limits: room.service.limits,
                clock: room.service.clock, following: { _ in [] })
            let following = Task { await store.run() }
            for user in users { await store.watch(self.user(user)) }
            room.advance(.seconds(1))
            try await room.say("1", in: "crew", by: "ana")
            let told = Observed<[Int]>()
            let commits = await room.service.engine.log.committed()
            let counting = Task {
                for await commit in commits {
                    told.append(commit.events.count { $0.type == "unread_count.updated" })
                }
            }
            await store.reportChanges()
            await told.wait { $0.reduce(0, +) >= users.count }
            #expect(told.value.filter { $0 > 0 } == [50])
            for task in [following, counting] { task.cancel() }
        }
    }

    @Test("are kept only for users that were asked for")
    func marks() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            room.advance(.seconds(1))
            try await room.say("1", in: "crew", by: "ana")
            _ = try await room.chat.mark(.read, "ben", in: "crew")
            #expect(await room.service.unread.holders.isEmpty)
        }
    }
}
