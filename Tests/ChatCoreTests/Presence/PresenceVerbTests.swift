import ChatModel
import ChatSupport
import JSON
import Testing

@testable import ChatCore

private let presence = NamePattern.below("presence.")

private func object(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

@Suite("Being present by calls") struct PresenceVerbTests {
    @Test("begins with a sign of life and ends some time after the last one")
    func signs() async throws {
        try await PresenceHouse.run { house in
            #expect(try await house.chat.appear("ana", on: "room"))
            try await house.pass(.seconds(299))
            #expect(try await !house.chat.appear("ana", on: "room", for: .seconds(60)))
            try await house.pass(.seconds(59))
            #expect(try await house.story(presence) == ["presence.joined ana"])
            try await house.pass(.seconds(1))
            #expect(try await house.story(presence) == ["presence.joined ana", "presence.timed_out ana"])
            await house.refusal(.malformed, nil) {
                _ = try await house.chat.appear("ana", on: "room", for: .seconds(1))
            }
        }
    }

    @Test("shows the user's state until it is replaced or the user leaves")
    func states() async throws {
        try await PresenceHouse.run { house in
            let chat = house.chat
            _ = try await chat.appear("ana", on: "room", state: object(#"{"mood":"busy"}"#))
            _ = try await chat.appear("ana", on: "room", state: object(#"{"mood":"busy"}"#))
            #expect(
                try await chat.occupants(of: "room", limit: 10).occupants.map(\.state) == [object(#"{"mood":"busy"}"#)])
            try await chat.show(.emptyObject, as: "ana", on: "room")
            #expect(try await chat.occupant("ana", of: "room") == Occupancy.Occupant(user: "ana"))
            try await chat.show(object(#"{"at":1}"#), as: "ana", on: "room")
            try await chat.disappear("ana", from: "room")
            let told = try await house.events(presence).map { "\($0.type) \($0.data)" }
            #expect(
                told == [
                    #"presence.joined {"user":{"id":"ana"},"occupancy":1}"#,
                    #"presence.state_changed {"user":{"id":"ana"},"occupancy":1,"state":{"mood":"busy"}}"#,
                    #"presence.state_changed {"user":{"id":"ana"},"occupancy":1,"state":{}}"#,
                    #"presence.state_changed {"user":{"id":"ana"},"occupancy":1,"state":{"at":1}}"#,
                    #"presence.left {"user":{"id":"ana"},"occupancy":0,"state":{"at":1}}"#,
                ])
            await house.refusal(.notFound, "not_present") { try await chat.show(.emptyObject, as: "ana", on: "room") }
            await house.refusal(.malformed, "wrong_type") { try await chat.show(object("[]"), as: "ana", on: "room") }
            let long = object("{\"text\":\"\(String(repeating: "x", count: 4096))\"}")
            await house.refusal(.tooLarge, nil) { try await chat.show(long, as: "ana", on: "room") }
        }
    }

    @Test("is set by the user only, on channels within reach, and not when banned or no member")
    func rights() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("crew", .group)
            try await house.ban("ben", from: "room")
            await house.refusal(.forbidden, nil) { _ = try await house.chat(of: "ben").appear("ana", on: "room") }
            await house.refusal(.forbidden, "banned") { _ = try await house.chat(of: "ben").appear("ben", on: "room") }
            await house.refusal(.forbidden, "banned") { _ = try await house.chat.appear("ben", on: "room") }
            await house.refusal(.forbidden, "not_a_member") {
                _ = try await house.chat(of: "ana").appear("ana", on: "crew")
            }
            // A service may act for a user who is no member.
            #expect(try await house.chat.appear("ana", on: "crew"))
            var caller = ChatFixture.owner
            caller.scopes = [.emit, .read]
            caller.channels = [.exact("room")]
            _ = try await house.chat(caller).appear("ana", on: "room")
            await house.refusal(.forbidden, nil) { _ = try await house.chat(caller).occupants(of: "crew", limit: 1) }
            #expect(try await house.chat(caller).presentChannels(of: "ana") == ["room"])
            #expect(try await house.chat.presentChannels(of: "ana") == ["crew", "room"])
        }
    }
}

@Suite("Participants of open channels") struct ParticipantTests {
    @Test("enter and leave once, are counted, and are announced to participants and to the channel list")
    func story() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("lobby", .open)
            try await house.makeUser("ana", name: "Ana")
            let first = try await house.chat.enter("ana", into: "lobby")
            let again = try await house.chat.enter("ana", into: "lobby")
            #expect(first.isNew && first.count == 1 && !again.isNew && again.count == 1)
            #expect(try await house.chat.participants(of: "lobby", limit: 10).occupants.map(\.user) == ["ana"])
            #expect(house.tracker.isInside("ana", house.channel("lobby")))
            try await house.chat.exit("ana", from: "lobby")
            try await house.chat.exit("ana", from: "lobby")
            let events = try await house.events()
            #expect(
                events.map(\.type) == [
                    "participant.entered", "channel.participant_count.updated", "participant.exited",
                    "channel.participant_count.updated",
                ])
            #expect(
                events.map(\.audience) == [
                    .rule(.participants, subjects: ["ana"]), .rule(.channelList),
                    .rule(.participantsButOrigin, subjects: ["ana"]), .rule(.channelList),
                ])
            #expect(events.allSatisfy { $0.draft.cause == "req_1" && $0.draft.originDevice == "desk" })
            let entered = try JSONDocument(events[0].data).root
            #expect(entered["user"]?["name"]?.string == "Ana" && entered["participant_count"]?.integer == 1)
            #expect(
                entered["channel"]?["kind"]?.string == "open"
                    && entered["entered_at"]?.string?.hasPrefix("2024-11-24T01:39:05.678") == true)
            #expect(
                events[3].data.description
                    == #"{"channels":[{"id":"lobby","kind":"open","name":null,"custom_type":null,"participant_count":0}]}"#
            )
        }
    }

    @Test("stay as long as one of their streams, plus half a minute")
    func streams() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("lobby", .open)
            _ = try await house.chat.enter("ana", into: "lobby")
            house.tracker.opened(HolderID("page1"), of: house.user("ana"))
            try await house.pass(.seconds(3600))
            house.tracker.opened(HolderID("page2"), of: house.user("ana"))
            house.tracker.disconnected(HolderID("page1"))
            try await house.pass(.seconds(31))
            #expect(house.tracker.isInside("ana", house.channel("lobby")))
            house.tracker.disconnected(HolderID("page2"))
            try await house.pass(.seconds(29))
            #expect(house.tracker.isInside("ana", house.channel("lobby")))
            try await house.pass(.seconds(1))
            #expect(!house.tracker.isInside("ana", house.channel("lobby")))
            #expect(
                try await house.events(.below("participant.")).map(\.type) == [
                    "participant.entered", "participant.exited",
                ])
        }
    }

    @Test("are counted once for all concurrent arrivals")
    func together() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("lobby", .open)
            let users = (0..<100).map { "user\($0)" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in users { group.addTask { _ = try await house.chat.enter(user, into: "lobby") } }
                try await group.waitForAll()
            }
            let events = try await house.events()
            #expect(events.count(where: { $0.type == "participant.entered" }) == 100)
            let counts = events.filter { $0.type == "channel.participant_count.updated" }
            #expect((1...100).contains(counts.count) && counts.last?.draft.data.description.contains("100") == true)
        }
    }

    @Test("exist only in channels with a record of that kind, and are never banned")
    func refusals() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("lobby", .open)
            try await house.makeChannel("crew", .group)
            try await house.ban("ben", from: "lobby")
            await house.refusal(.notFound, nil) { _ = try await house.chat.enter("ana", into: "nowhere") }
            await house.refusal(.conflict, "not_open") { _ = try await house.chat.enter("ana", into: "crew") }
            await house.refusal(.forbidden, "banned") { _ = try await house.chat.enter("ben", into: "lobby") }
            await house.refusal(.forbidden, nil) { _ = try await house.chat(of: "ana").exit("ben", from: "lobby") }
            #expect(try await house.events().isEmpty)
        }
    }

    @Test("are removed in every respect when they are expelled")
    func expelled() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("lobby", .open)
            _ = try await house.chat.enter("ana", into: "lobby")
            house.tracker.opened(HolderID("page"), of: house.user("ana"), presentOn: ["lobby"])
            try await house.chat.startTyping("ana", on: "lobby")
            try await house.chat.expel("ana", from: "lobby", by: "mod")
            let told = try await house.events().suffix(4).map { "\($0.type) \($0.user ?? "")" }
            #expect(
                told == [
                    "presence.left mod", "participant.exited mod", "channel.participant_count.updated mod",
                    "typing.stopped mod",
                ])
        }
    }
}

@Suite("Typing") struct TypingTests {
    @Test("is announced when it begins and when it ends, and not when it continues")
    func story() async throws {
        try await PresenceHouse.run { house in
            try await house.makeUser("ben", name: "Ben")
            try await house.chat.startTyping("ana", on: "room")
            try await house.chat.startTyping("ben", on: "room")
            try await house.pass(.seconds(9))
            try await house.chat.startTyping("ben", on: "room")
            try await house.pass(.seconds(1))
            try await house.chat.stopTyping("ben", on: "room")
            try await house.chat.stopTyping("ben", on: "room")
            try await house.pass(.seconds(60))
            let told = try await house.events().map { "\($0.type) \($0.data)" }
            let ben = #"{"id":"ben","name":"Ben"}"#
            let ana = #"{"id":"ana"}"#
            #expect(
                told == [
                    #"typing.started {"user":\#(ana),"typing_users":[\#(ana)]}"#,
                    #"typing.started {"user":\#(ben),"typing_users":[\#(ana),\#(ben)]}"#,
                    #"typing.stopped {"user":\#(ana),"typing_users":[\#(ben)]}"#,
                    #"typing.stopped {"user":\#(ben),"typing_users":[]}"#,
                ])
            #expect(try await house.events().map(\.audience) == Array(repeating: .subscribers, count: 4))
        }
    }

    @Test("is shown to the other members of a channel that has some")
    func members() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("crew", .group)
            try await house.chat.startTyping("ana", on: "crew")
            #expect(try await house.events().map(\.audience) == [.rule(.joinedButSubjects, subjects: ["ana"])])
        }
    }

    @Test("is refused to users who may not write")
    func refusals() async throws {
        try await PresenceHouse.run { house in
            try await house.makeChannel("crew", .group)
            try await house.ban("ben", from: "room")
            await house.refusal(.forbidden, "banned") { try await house.chat.startTyping("ben", on: "room") }
            await house.refusal(.forbidden, "not_a_member") {
                try await house.chat(of: "ana").startTyping("ana", on: "crew")
            }
            #expect(try await house.events().isEmpty)
        }
    }
}
