import ChatKit
import Testing

@Suite("Presence in ChatKit") struct AttendanceTests {
    @Test("reports present users with their state", arguments: MatchStrategy.allCases)
    func presence(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = chat.channel("room.1")
            let ben = try await chat.acting(as: "ben")
            #expect(try await room.whoIsPresent().count == 0)
            #expect(try await room.getState(userId: "ana") == nil)
            try await room.appear(state: ["mood": "fine"])
            try await ben.channel("room.1").appear(for: 60)
            let all = try await room.whoIsPresent()
            #expect(all.userIds == ["ana", "ben"])
            #expect(all.count == 2)
            let first = try await room.whoIsPresent(limit: 1)
            #expect(first.userIds == ["ana"])
            #expect(first.count == 2)
            #expect(try await room.whoIsPresent(limit: 1, page: first.page).userIds == ["ben"])
            #expect(try await room.getState(userId: "ana")?["mood"]?.json == "fine")
            #expect(try await room.getState(userId: "ben")?.isEmpty == true)
            try await room.setState(["mood": "tired"])
            #expect(try await room.getState(userId: "ana")?["mood"]?.json == "tired")
            #expect(try await chat.currentUser.wherePresent() == ["room.1"])
            #expect(try await chat.currentUser.isPresentOn(channelId: "room.1"))
            try await room.disappear()
            #expect(try await room.isPresent(userId: "ana") == false)
            #expect(try await chat.currentUser.wherePresent() == [])
        }
    }

    @Test("reports changes", arguments: MatchStrategy.allCases)
    func presenceChanges(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<[String]>()
            let listener = chat.channel("room.1").onPresenceChanged { heard($0) }
            try await listener.ready()
            let ben = try await chat.acting(as: "ben")
            try await ben.channel("room.1").appear(state: ["mood": "fine"])
            #expect(await heard.next() == [["ben"]])
            try await ben.channel("room.1").setState(["mood": "tired"])
            try await ben.channel("room.1").disappear()
            #expect(await heard.next() == [[]])
        }
    }

    @Test("reports typing users", arguments: MatchStrategy.allCases)
    func typing(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<[String]>()
            let listener = chat.channel("room.1").onTypingChanged { heard($0) }
            try await listener.ready()
            let ben = try await chat.acting(as: "ben").channel("room.1")
            try await ben.startTyping()
            try await ben.startTyping()
            #expect(await heard.next() == [["ben"]])
            #expect(try await chat.channel("room.1").getTypingUsers().userIds == ["ben"])
            try await ben.stopTyping()
            #expect(try await chat.channel("room.1").getTypingUsers().count == 0)
            #expect(await heard.next() == [[]])
        }
    }

    @Test("is counted for open channels, which users enter", arguments: MatchStrategy.allCases)
    func participants(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let lobby = try await chat.createChannel(id: "lobby", type: .open)
            let ben = try await chat.acting(as: "ben")
            #expect(try await lobby.enter() == 1)
            #expect(try await ben.channel("lobby").enter() == 2)
            #expect(try await ben.channel("lobby").enter() == 2)
            let first = try await lobby.getParticipants(limit: 1)
            #expect(first.userIds == ["ana"])
            #expect(first.count == 2)
            #expect(try await lobby.getParticipants(limit: 1, page: first.page).userIds == ["ben"])
            try await ben.channel("lobby").exit()
            try await ben.channel("lobby").exit()
            #expect(try await lobby.getParticipants().userIds == ["ana"])
        }
    }
}
