import ChatKit
import Testing

@Suite("Moderation") struct ModerationTests {
    @Test("restricts users, lists restricted users, and lifts restrictions", arguments: MatchStrategy.allCases)
    func restrictions(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            let ben = try await chat.acting(as: "ben")
            let user = ben.currentUser
            try await room.setRestrictions(user: user, mute: true, reason: "spam")
            let restriction = try #require(try await room.getUserRestrictions(user: user))
            #expect(restriction.mute && !restriction.ban)
            #expect(restriction.reason == "spam")
            #expect(try await room.getUsersRestrictions().restrictions == [restriction])
            #expect(try await user.getChannelsRestrictions().restrictions == [restriction])
            #expect(try await user.getChannelRestrictions(channel: room) == restriction)
            let refused = await #expect(throws: ChatError.self) { try await ben.channel("room.1").sendText("hi") }
            #expect(refused?.code == .forbidden)
            try await user.setRestrictions(channel: room)
            #expect(try await room.getUserRestrictions(user: user) == nil)
            try await ben.channel("room.1").sendText("hi")
        }
    }

    @Test(
        "is received by the restricted user on every channel", arguments: MatchStrategy.allCases,
        ChannelType.allCases)
    func heardOutside(way: MatchStrategy, type: ChannelType) async throws {
        guard type != .direct else { return }
        try await way.withChat { chat in
            // A channel of type `unknown` has no record.
            if type != .unknown { _ = try await chat.createChannel(id: "room.1", type: type) }
            let ben = try await chat.acting(as: "ben")
            let heard = Heard<String>()
            let listener = ben.currentUser.onRestrictionChanged { heard("\($0.channelId) \($0.ban) \($0.mute)") }
            try await listener.ready()
            for (ban, mute) in [(false, true), (false, false), (true, false), (false, false)] {
                try await chat.channel("room.1").setRestrictions(user: ben.currentUser, ban: ban, mute: mute)
                #expect(await heard.next() == ["room.1 \(ban) \(mute)"])
            }
        }
    }

    @Test("ends by itself when a time was given", arguments: MatchStrategy.allCases)
    func until(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            let sent = try await room.sendText("now")
            let past = await #expect(throws: ChatError.self) {
                try await room.setRestrictions(user: chat.user("ben"), ban: true, until: sent)
            }
            #expect(past?.code == .malformed)
            let later = Timetoken(sent.rawValue + 3600 * 10_000_000)
            try await room.setRestrictions(user: chat.user("ben"), ban: true, until: later)
            #expect(try await room.getUserRestrictions(user: chat.user("ben"))?.ban == true)
        }
    }

    @Test("is done by operators, who appoint each other", arguments: MatchStrategy.allCases)
    func operators(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let crew = try await chat.createChannel(id: "crew", type: .group)
            let ben = try await chat.acting(as: "ben")
            try await crew.invite(ben.currentUser)
            let his = ben.channel("crew")
            try await his.join()
            try await crew.addOperator(ben.currentUser)
            #expect(try await chat.getChannel(channelId: "crew")?.operators.sorted() == ["ana", "ben"])
            try await his.freeze()
            let refused = await #expect(throws: ChatError.self) {
                try await chat.acting(as: "cleo").channel("crew").sendText("hi")
            }
            #expect(refused?.code == .forbidden)
            #expect(try await chat.getChannel(channelId: "crew")?.isFrozen == true)
            try await his.unfreeze()
            #expect(try await chat.getChannel(channelId: "crew")?.isFrozen == false)
            try await crew.removeOperator(ben.currentUser)
            #expect(try await chat.getChannel(channelId: "crew")?.operators == ["ana"])
        }
    }

    @Test("removes members", arguments: MatchStrategy.allCases)
    func removal(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            let crew = try await chat.createChannel(id: "crew", type: .group)
            let membership = try await crew.invite(ben.currentUser)
            try await ben.channel("crew").join()
            try await membership.delete(reason: "spam")
            #expect(try await crew.getMembership(userId: "ben") == nil)
            try await membership.delete()
        }
    }

    @Test("includes each user's own blocks", arguments: MatchStrategy.allCases)
    func blocks(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (ben, cleo) = (chat.user("ben"), chat.user("cleo"))
            try await chat.blockUser(cleo)
            try await chat.blockUser(ben)
            try await chat.blockUser(ben)
            #expect(try await chat.getBlockedUsers().users.map(\.id) == ["ben", "cleo"])
            let first = try await chat.getBlockedUsers(limit: 1)
            #expect(first.users.map(\.id) == ["ben"])
            #expect(try await chat.getBlockedUsers(limit: 1, page: first.page).users.map(\.id) == ["cleo"])
            try await chat.unblockUser(ben)
            try await chat.unblockUser(ben)
            #expect(try await chat.getBlockedUsers().users.map(\.id) == ["cleo"])
        }
    }
}
