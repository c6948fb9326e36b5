import ChatModel
import ChatSupport
import JSON
import Testing

@testable import ChatCore

/// Tests of a single user's credential that listens or reads without naming a user.
@Suite("A user's own credential") struct UserCredentialTests {
    private func slug(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ChatError)?.slug ?? "\(error)"
        }
    }

    /// The channels and types of all events that a selection returns from the beginning.
    private func heard(_ room: Room, by user: String, _ channels: [String]) async throws -> [String] {
        let chat = room.chat(of: user)
        let selection = try chat.selection(channels: channels)
        var catchUp = chat.catchUp(selection, after: .zero, upTo: try await chat.watermark())
        return try await catchUp.nextPage(limit: 250).map { "\($0.channel.name) \($0.type)" }
    }

    private func tell(_ room: Room, _ channel: String, _ type: String, _ audience: Audience) async throws {
        var draft = EventDraft(channel: ChannelID(channel, in: ChatFixture.app), type: type, data: .emptyObject)
        draft.audience = audience
        _ = try await room.service.engine.log.append([draft], claim: nil)
    }

    @Test("emits into the app of its credential, whatever app the draft names")
    func app() async throws {
        try await Room.open { room in
            var draft = EventDraft.message(channel: "plaza", data: Room.text("hi"), user: "ana", meta: nil)
            draft.channel = ChannelID("plaza", in: AppID("elsewhere"))
            let event = try await room.chat.emit(draft).event
            #expect(event.channel == ChannelID("plaza", in: ChatFixture.app))
            let prepared = try await room.chat.prepare(draft)
            #expect(prepared.channel.app == ChatFixture.app)
        }
    }

    @Test("receives public channels by patterns, and a private channel that it names as a member")
    func patterns() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana"], operators: ["ana"])
            try await room.establish("hall", .open)
            let said = try await room.say("hi", in: "crew", by: "ana")
            try await room.chat.emit(
                EventDraft.event(channel: "crew", type: "order.paid", data: .emptyObject, user: nil, meta: nil))
            _ = try await room.chat.report(said.timetoken, in: "crew", for: "rude", by: "ana")
            try await room.say("hi", in: "hall", by: "ana")
            try await room.say("hi", in: "plaza", by: "ana")
            try await tell(room, "ben", "user.mentioned", .rule(.mentioned, subjects: ["ben"]))
            try await tell(room, "crew", "member.left", .rule(.joined))
            #expect(try await heard(room, by: "ben", ["*"]) == ["hall message.created", "plaza message.created"])
            #expect(
                try await heard(room, by: "ana", ["crew"]) == [
                    "crew message.created", "crew order.paid", "crew member.left",
                ])
        }
    }

    @Test("reads of a user's channel only the events that are not for another user")
    func personal() async throws {
        try await Room.open { room in
            try await tell(room, "bob", "user.mentioned", .rule(.mentioned, subjects: ["bob"]))
            try await tell(room, "bob", "user.updated", .subscribers)
            let request = HistoryRequest(channel: ChannelID("bob", in: ChatFixture.app), limit: 9)
            for (user, types) in [("mallory", ["user.updated"]), ("bob", ["user.mentioned", "user.updated"])] {
                let page = try await room.chat(of: user).history([request])[0]
                #expect(Set(page.items.map(\.type)) == Set(types))
            }
            let mention = try await room.chat.history([request])[0].items.first { $0.type == "user.mentioned" }
            let place = try #require(mention).timetoken
            #expect(try await room.chat(of: "bob").event(place).type == "user.mentioned")
            try await expect(.notFound) { _ = try await room.chat(of: "mallory").event(place) }
        }
    }

    @Test("always reads the channel named like its user, whatever records others create for it")
    func home() async throws {
        try await Room.open { room in
            try await room.establish("ben", .group, members: ["mallory"], operators: ["mallory"])
            #expect(try await room.mayHear("ben", in: "ben"))
        }
    }

    @Test("follows reports only as an operator, also as a device, and creates no record there")
    func reports() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana", "ben"], operators: ["ana"])
            let name = ChatAccess.moderationChannel(of: "crew")
            func follow(_ user: String) async throws {
                let chat = room.chat(of: user)
                _ = try await chat.selection(try chat.selection(channels: [name]), heardBy: user, on: nil)
            }
            #expect(await slug { try await follow("ben") } == "not_operator")
            #expect(await slug { try await follow("ana") } == nil)
            let made = await slug { _ = try await room.chat(of: "ben").make(NewChannel(kind: .group, id: name)) }
            #expect(made == "name_in_use")
        }
    }

    @Test("undoes its own deletion, not a moderator's")
    func undoing() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana", "ben"], operators: ["ana"])
            let said = try await room.say("hi", in: "crew", by: "ben").timetoken
            for (deleter, isOwn) in [("ana", false), ("ben", true)] {
                let chat = room.chat(of: deleter)
                try await chat.delete(said, in: "crew", isHard: false, by: nil)
                let operation = try #require(try await room.chat.message(said, in: "crew").record.deletion?.at)
                let undone = await slug {
                    _ = try await room.chat(of: "ben").undo(operation, to: said, in: "crew", by: nil)
                }
                #expect(undone == (isOwn ? nil : "not_operator"))
                if !isOwn { _ = try await room.chat(of: "ana").undo(operation, to: said, in: "crew", by: nil) }
            }
        }
    }

    @Test("receives a ban where the channel has no record, and then nothing more of it")
    func bans() async throws {
        try await Room.open { room in
            let chat = room.chat(of: "ana")
            let selection = try await chat.selection(
                try chat.selection(channels: ["lobby"]), heardBy: "ana", on: "phone")
            #expect(await room.service.hub.channels(heardBy: selection) == ["lobby"])
            _ = try await room.chat.restrict("ana", in: "lobby", RestrictionRequest(isBan: true))
            _ = await room.service.hub.reach(try await chat.watermark())
            #expect(await room.service.hub.channels(heardBy: selection) == [])
        }
    }

    @Test("is matched with records whose names begin with combining marks")
    func combiningMarks() {
        let key = MembershipRecord.key("ana%", "\u{301}x/y", in: ChatFixture.app)
        #expect(key.userAndChannel?.user.name == "ana%")
        #expect(key.userAndChannel?.channel.name == "\u{301}x/y")
        #expect(ChatAccess.channel(moderatedOn: ChatAccess.moderationChannel(of: "\u{301}x")) == "\u{301}x")
    }
}
