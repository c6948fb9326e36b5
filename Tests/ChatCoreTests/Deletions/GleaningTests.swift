import ChatModel
import ChatSupport
import JSON
import Testing

@testable import ChatCore

@Suite("Data of removed messages") struct GleaningTests {
    private func records(_ kind: RecordKind, _ room: Room) async throws -> [Record] {
        try await room.service.engine.directory.list(RecordQuery(kind, in: ChatFixture.app, limit: 100)).items
    }

    /// Sends a message that is edited, has reactions of five users, and has an action.
    private func message(_ room: Room, in channel: String = "crew") async throws -> Timetoken {
        let sent = try await room.say("one", in: channel, by: "ana").timetoken
        _ = try await room.chat.edit(sent, in: channel, to: .text(JSONText(string: "two")), by: "ana")
        for number in 0..<5 { try await room.chat.react("smile", to: sent, in: channel, by: "user\(number)") }
        _ = try await room.chat.addAction("seen", "kitchen", to: sent, in: channel, by: "ben")
        return sent
    }

    private var small: Limits {
        var limits = Limits()
        limits.pageMost = 2
        return limits
    }

    @Test("is removed after a deletion by range, except for messages that remain")
    func range() async throws {
        try await Room.open(limits: small) { room in
            let first = try await message(room)
            let second = try await message(room)
            let other = try await message(room, in: "lobby")
            #expect(try await room.chat.deleteEvents(after: .zero, before: second, in: "crew") > 0)
            room.advance(.seconds(24 * 3600 + 1))
            await room.service.cleanUp(ChatFixture.app)
            #expect(try await records(.message, room).compactMap { MessageRecord($0)?.timetoken } == [second, other])
            let actions = try await records(.messageAction, room).compactMap { MessageActionRecord($0) }
            #expect(actions.count == 12 && !actions.contains { $0.message == first })
        }
    }

    @Test("is removed when messages expire by their own time or their app's")
    func age() async throws {
        try await Room.open(limits: small) { room in
            var short = EventDraft.message(channel: "crew", data: Room.text("short"), user: "ana", meta: nil)
            short.timeToLive = .seconds(60)
            let sent = try await room.chat.emit(short).event.timetoken
            try await room.chat.react("smile", to: sent, in: "crew", by: "ben")
            _ = try await message(room)
            room.advance(.seconds(61))
            await room.service.cleanUp(ChatFixture.app)
            #expect(try await records(.message, room).count == 1)
            try await room.service.engine.log.setRetention(.seconds(3600), of: ChatFixture.app)
            room.advance(.seconds(3600))
            await room.service.cleanUp(ChatFixture.app)
            #expect(try await records(.message, room).isEmpty)
            #expect(try await records(.messageAction, room).isEmpty)
        }
    }

    @Test("is kept for a day for a message that was deleted for good")
    func tombstone() async throws {
        try await Room.open(limits: small) { room in
            let sent = try await message(room)
            try await room.chat.delete(sent, in: "crew", isHard: true, by: "ana")
            await room.service.cleanUp(ChatFixture.app)
            try await room.chat.delete(sent, in: "crew", isHard: true, by: "ana")
            room.advance(.seconds(24 * 3600 + 1))
            await room.service.cleanUp(ChatFixture.app)
            #expect(try await records(.message, room).isEmpty)
            #expect(try await records(.messageAction, room).isEmpty)
            await #expect(throws: ChatError.self) {
                try await room.chat.delete(sent, in: "crew", isHard: true, by: "ana")
            }
        }
    }

    @Test("is no longer counted in the thread of the parent message")
    func threads() async throws {
        try await Room.open(limits: small) { room in
            let root = try await room.say("root", in: "crew", by: "ana").timetoken
            var replies: [Timetoken] = []
            for user in ["ben", "carl"] {
                let reply = EventDraft.message(channel: "crew", data: Room.text("reply"), user: user, meta: nil)
                replies.append(try await room.chat.post(reply, MessageLinks(threadOf: root)).events[0].event.timetoken)
            }
            _ = try await room.chat.deleteEvents(
                after: Timetoken(replies[0].rawValue - 1), before: Timetoken(replies[0].rawValue + 1), in: "crew")
            #expect(try await room.chat.message(root, in: "crew").record.thread.replies == 1)
            room.advance(.seconds(24 * 3600 + 1))
            await room.service.cleanUp(ChatFixture.app)
            #expect(try await room.chat.message(root, in: "crew").record.thread.replies == 1)
            #expect(
                try await room.chat.replies(to: root, in: "crew", RecordList(limit: 2)).items.map(\.timetoken) == [
                    replies[1]
                ])
        }
    }
}
