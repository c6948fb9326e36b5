import ChatKit
import Testing

@Suite("Channels") struct ChannelTests {
    @Test("are made, read, changed, listed and deleted", arguments: MatchStrategy.allCases)
    func life(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1", name: "Room", custom: ["floor": 3])
            #expect(room.type == .public)
            let changed = try await room.update(description: "The first", status: "busy")
            #expect(changed.name == "Room")
            #expect(changed.description == "The first")
            #expect(changed.custom["floor"]?.json == 3)
            #expect(try await chat.getChannel(channelId: "room.1")?.status == "busy")
            #expect(try await chat.getChannels().channels.map(\.id) == ["room.1"])
            try await changed.delete()
            #expect(try await chat.getChannel(channelId: "room.1") == nil)
            #expect(chat.channel("room.1").type == .unknown)
        }
    }

    @Test("are changed relative to their current state, so that no change is lost", arguments: MatchStrategy.allCases)
    func updating(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1", custom: ["other": "kept"])
            await withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        try await room.update { now, fields in
                            fields.custom = AnyJSON(now.custom.merging(["by \(number)": true]) { $1 })
                        }
                    }
                }
            }
            let custom = try #require(try await chat.getChannel(channelId: "room.1")).custom
            #expect(custom.keys.sorted() == ["by 0", "by 1", "by 2", "by 3", "other"])
            #expect(try await room.update { _, fields in fields.data = [1, 2] }.data == [1, 2])
            let user = try await chat.currentUser.update { now, fields in fields.name = (now.name ?? "-") + "!" }
            #expect(user.name == "-!" && user.lastActiveTimestamp == nil)
            for time in [17 as any JSONCodable, "17", 17.0] {
                let active = try await chat.currentUser.update(custom: ["lastActiveTimestamp": time])
                #expect(active.lastActiveTimestamp == 17)
            }
            let membership = try await room.join().update { _, fields in fields.status = "here" }
            #expect(membership.status == "here")
            let none = await #expect(throws: ChatError.self) { _ = try await chat.channel("none").update { _, _ in } }
            #expect(none?.code == .notFound)
        }
    }

    @Test("between two users are one for each pair", arguments: MatchStrategy.allCases)
    func direct(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            let first = try await chat.createDirectConversation(invitedUser: ben.currentUser)
            #expect(first.channel.type == .direct)
            #expect(first.hostMembership?.state == .joined)
            #expect(first.inviteeMembership?.userId == "ben")
            #expect(first.inviteeMembership?.state == .invited)
            let second = try await ben.createDirectConversation(invitedUser: chat.currentUser)
            #expect(second.channel.id == first.channel.id)
        }
    }

    @Test("accept invitations, joins, changes and leaves, with an event for each", arguments: MatchStrategy.allCases)
    func members(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            let invited = Heard<Invite>()
            let listener = ben.currentUser.onInvited { invited($0) }
            try await listener.ready()
            let crew = try await chat.createGroupConversation(
                invitedUsers: [ben.currentUser], channelId: "crew", name: "Crew"
            ).channel
            let invite = try #require(await invited.next().first)
            #expect(invite.channelId == "crew")
            #expect(invite.channelType == .group)
            #expect(invite.invitedByUserId == "ana")
            let membership = try await ben.channel("crew").join()
            #expect(membership.state == .joined)
            let heard = Heard<String>()
            let listeners = [
                membership.onUpdated { heard("updated \($0.status ?? "-")") }, membership.onDeleted { heard("left") },
            ]
            for listener in listeners { try await listener.ready() }
            #expect(try await membership.update(status: "vip").status == "vip")
            #expect(await heard.next() == ["updated vip"])
            #expect(try await crew.getMembers().members.map(\.userId).sorted() == ["ana", "ben"])
            #expect(try await ben.currentUser.getMemberships().memberships.map(\.channelId) == ["crew"])
            try await ben.channel("crew").leave()
            #expect(await heard.next() == ["left"])
            #expect(try await crew.getMembership(userId: "ben") == nil)
        }
    }

    @Test("list users who declined", arguments: MatchStrategy.allCases)
    func declining(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            let crew = try await chat.createChannel(id: "crew", type: .group)
            #expect(try await crew.invite(ben.currentUser).state == .invited)
            try await ben.channel("crew").declineInvite()
            #expect(try await crew.getMembership(userId: "ben") == nil)
        }
    }

    @Test("call their listeners for every change", arguments: MatchStrategy.allCases)
    func listeners(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            let heard = Heard<String>()
            let listeners = [
                room.onUpdated { heard("updated \($0.name ?? "-")") }, room.onDeleted { heard("deleted") },
            ]
            for listener in listeners { try await listener.ready() }
            _ = try await room.update(name: "Room")
            #expect(await heard.next() == ["updated Room"])
            try await room.delete()
            #expect(await heard.next() == ["deleted"])
        }
    }
}
