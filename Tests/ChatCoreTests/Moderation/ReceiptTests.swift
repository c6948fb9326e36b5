import ChatModel
import ChatSupport
import JSON
import Testing

@testable import ChatCore

@Suite("Receipts and unread counts") struct ReceiptTests {
    @Test("move the mark to the newest message under concurrent marks")
    func marks() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            var messages: [Timetoken] = []
            for number in 0..<200 { messages.append(try await room.say("\(number)", in: "crew", by: "ana").timetoken) }
            try await withThrowingTaskGroup { group in
                for message in messages.shuffled() {
                    group.addTask { _ = try await room.chat.mark(.read, "ben", in: "crew", at: message) }
                }
                try await group.waitForAll()
            }
            let key = MembershipRecord.key("ben", "crew", in: ChatFixture.app)
            let stored = try await room.service.engine.directory.read(key)
            let membership = try #require(stored.flatMap(MembershipRecord.init))
            #expect(membership.read == messages.last && membership.delivered == messages.last)
            #expect(try await room.chat.unread(of: "ben", in: "crew") == 0)
        }
    }

    @Test("are sent for every step forward and no other, as the catalogue defines")
    func events() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            let first = try await room.say("1", in: "crew", by: "ana").timetoken
            let second = try await room.say("2", in: "crew", by: "ana").timetoken
            _ = try await room.chat.mark(.delivered, "ben", in: "crew")
            _ = try await room.chat.mark(.read, "ben", in: "crew", at: first)
            _ = try await room.chat.mark(.delivered, "ben", in: "crew", at: first)
            _ = try await room.chat.mark(.read, "ben", in: "crew")
            _ = try await room.chat.mark(.read, "ben", in: "crew", at: first)
            let channels = ChannelSet(app: ChatFixture.app, names: ["crew"])
            let events = try await room.service.engine.log.events(in: channels, after: second, limit: 10).items
                .filter { $0.audience != .wire }
            #expect(events.map(\.type) == ["receipt.delivered", "receipt.read", "receipt.read"])
            for event in events { #expect(try await room.chat.validate(event.data, as: event.type).isValid) }
        }
    }

    @Test("are refused ahead of every message, and to users who have not joined")
    func refusals() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            let message = try await room.say("1", in: "crew", by: nil).timetoken
            let ahead = await #expect(throws: ChatError.self) {
                _ = try await room.chat.mark(.read, "ana", in: "crew", at: message.adding(.seconds(60)))
            }
            #expect(ahead?.code == .malformed)
            let foreign = await #expect(throws: ChatError.self) {
                _ = try await room.chat.mark(.read, "ben", in: "crew")
            }
            #expect(foreign?.slug == "no_such_member")
            let other = await #expect(throws: ChatError.self) {
                _ = try await room.chat(of: "ben").mark(.read, "ana", in: "crew")
            }
            #expect(other?.slug == "not_self")
        }
    }

    @Test("leave unread the messages of others since joining, by channel, in total, and by custom type")
    func counting() async throws {
        try await Room.open { room in
            try await room.say("before", in: "work", by: "ana")
            try await room.establish("work", members: ["ana", "ben"], customType: "work")
            try await room.establish("home", members: ["ana", "ben"])
            room.advance(.seconds(1))
            try await room.say("1", in: "work", by: "ana")
            try await room.say("own", in: "work", by: "ben")
            try await room.say("2", in: "home", by: "ana")
            #expect(try await room.chat.unread(of: "ben", in: "work") == 1)
            var unread = try await room.chat.unread(of: "ben")
            #expect(unread.total == 2 && unread.byCustomType == ["work": 1])
            // The count is now in memory: later messages are added to it without another count.
            for number in 0..<3 { try await room.say("\(number)", in: "work", by: "ana") }
            try await room.say("own", in: "work", by: "ben")
            unread = try await room.chat.unread(of: "ben")
            #expect(unread.total == 5 && unread.byCustomType == ["work": 4])
            _ = try await room.chat.mark(.read, "ben", in: "work")
            unread = try await room.chat.unread(of: "ben")
            #expect(unread.total == 1 && unread.byCustomType == [:])
            #expect(try await room.chat.markAllRead(by: "ben") == ["home"])
            #expect(try await room.chat.unread(of: "ben") == Unread())
        }
    }

    @Test("stop counting deleted messages, and channels that are hidden for good or left")
    func leaving() async throws {
        try await Room.open { room in
            for channel in ["a", "b", "c"] { try await room.establish(channel, .public, members: ["ana", "ben"]) }
            room.advance(.seconds(1))
            for channel in ["a", "b", "c"] { try await room.say("1", in: channel, by: "ana") }
            #expect(try await room.chat.unread(of: "ben").total == 3)
            _ = try await room.chat.hide("a", for: "ben", endsWithMessage: false)
            #expect(try await room.chat.unread(of: "ben").total == 2)
            _ = try await room.chat.unhide("a", for: "ben")
            #expect(try await room.chat.unread(of: "ben").total == 3)
            try await room.chat.leave("ben", from: "b")
            #expect(try await room.chat.unread(of: "ben").total == 2)
            _ = try await room.chat.deleteEvents(after: .zero, before: .distantFuture, in: "c")
            #expect(try await room.chat.unread(of: "ben").total == 1)
            _ = try await room.chat.join("ben", to: "b")
            room.advance(.seconds(1))
            try await room.say("2", in: "b", by: "ana")
            #expect(try await room.chat.unread(of: "ben").total == 2)
        }
    }

    @Test("are followed by unread counts for watched users and readers, once for several changes")
    func telling() async throws {
        try await Room.open { room in
            try await room.establish("work", members: ["ana", "ben"], customType: "work")
            room.advance(.seconds(1))
            let start = try await room.say("1", in: "work", by: "ana").timetoken
            await room.service.watchUnread(of: UserID("ben", in: ChatFixture.app), isOn: true)
            await room.service.unread.reportChanges()
            for number in 0..<5 { try await room.say("\(number)", in: "work", by: "ana") }
            _ = try await room.chat.unread(of: "ben")
            await room.service.unread.reportChanges()
            _ = try await room.chat.mark(.read, "ben", in: "work")
            await room.service.unread.reportChanges()
            await room.service.unread.reportChanges()
            let channels = ChannelSet(app: ChatFixture.app, names: ["ben"])
            let events = try await room.service.engine.log.events(in: channels, after: start, limit: 500).items
                .filter { $0.audience != .wire }
            let last = try #require(events.last)
            #expect(events.allSatisfy { $0.type == "unread_count.updated" } && (2...4).contains(events.count))
            #expect(last.audience == .rule(.user, subjects: ["ben"]))
            let data = try JSONDocument(last.data).root
            #expect(data["unread_count"]?.integer == 0 && data["by_custom_type"]?["work"]?.integer == 0)
            for event in events { #expect(try await room.chat.validate(event.data, as: event.type).isValid) }
        }
    }
}
