import ChatKit
import ChatRemote
import Testing

@Suite("Listeners of records and messages") struct RecordListenerTests {
    @Test("receive a message that is deleted for good", arguments: MatchStrategy.allCases)
    func hardDeletion(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let timetoken = try await channel.sendText("hi")
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            let heard = Heard<Message>()
            let listener = message.onUpdated { heard($0) }
            try await listener.ready()
            _ = try await message.editText("hello")
            #expect(await heard.next().map(\.text) == ["hello"])
            try await message.delete()
            let deleted = try #require(await heard.next().first)
            #expect(deleted.timetoken == timetoken)
            #expect(deleted.isDeleted)
            #expect(deleted.text == "")
            listener.close()
        }
    }

    @Test("receive a membership whose marks move", arguments: MatchStrategy.allCases)
    func marks(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            _ = try await chat.createGroupConversation(invitedUsers: [ben.currentUser], channelId: "crew")
            let membership = try await ben.channel("crew").join()
            let sent = try await chat.channel("crew").sendText("hi")
            let heard = Heard<Membership>()
            let listener = membership.onUpdated { heard($0) }
            try await listener.ready()
            try await ben.channel("crew").markAsDelivered()
            #expect(await heard.next().map(\.lastDeliveredMessageTimetoken) == [sent])
            try await ben.channel("crew").markAsRead()
            #expect(await heard.next().map(\.lastReadMessageTimetoken) == [sent])
            listener.close()
        }
    }

    @Test("receive records that are created", arguments: MatchStrategy.allCases)
    func created(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let listeners = [
                chat.channel("room.1").onUpdated { heard($0.name ?? "-") },
                chat.user("ben").onUpdated { heard($0.name ?? "-") },
            ]
            for listener in listeners { try await listener.ready() }
            _ = try await chat.createChannel(id: "room.1", name: "Room")
            #expect(await heard.next() == ["Room"])
            _ = try await chat.createUser(id: "ben", name: "Ben")
            #expect(await heard.next() == ["Ben"])
            for listener in listeners { listener.close() }
        }
    }

    @Test("receive all present users, on more than one page", arguments: MatchStrategy.allCases)
    func presence(way: MatchStrategy) async throws {
        try await way.withBackend { backend, _ in
            let chat = try await Chat(backend)
            let names = (1000..<1260).map { "u\($0)" }
            for name in names { try await backend.acting(as: name).appear(in: "room.1", for: nil, state: nil) }
            let heard = Heard<[String]>()
            let listener = chat.channel("room.1").onPresenceChanged { heard($0) }
            try await listener.ready()
            try await backend.acting(as: "u1000").disappear(from: "room.1")
            var present = await heard.next().first
            while present?.count != 259 { present = await heard.next().first }
            #expect(present == Array(names.dropFirst()))
            listener.close()
        }
    }

    @Test("receive events of a user's own token", arguments: [true, false])
    func ownToken(isBanned: Bool) async throws {
        try await withGateway { url in
            let ana = try await Chat(url: url, key: "dev", user: "ana")
            let token = try await Operator(url: url).token(of: "ben")
            let ben = try await Chat(url: url, key: token, user: "ben")
            let crew = try await ana.createChannel(id: "crew", type: .group)
            let heard = Heard<String>()
            let listeners = [
                ben.currentUser.onInvited { heard("invited to \($0.channelId)") },
                ben.currentUser.onMentioned { heard("mentioned in \($0.channelId)") },
                ben.currentUser.onRestrictionChanged { heard("ban \($0.ban), mute \($0.mute)") },
            ]
            for listener in listeners { try await listener.ready() }
            try await crew.invite(ana.user("ben"))
            #expect(await heard.next() == ["invited to crew"])
            try await ben.channel("crew").join()
            try await crew.sendText("ben?", usersToMention: ["ben"])
            #expect(await heard.next() == ["mentioned in crew"])
            try await crew.setRestrictions(user: ana.user("ben"), ban: isBanned, mute: !isBanned)
            #expect(await heard.next() == ["ban \(isBanned), mute \(!isBanned)"])
            for listener in listeners { listener.close() }
            await ben.close()
            await ana.close()
        }
    }

    @Test("receive values that a program can also create itself")
    func values() {
        let custom = CustomEvent(timetoken: 17, userId: "ana", payload: ["a": 1])
        let wrapped = EventWrapper(
            event: ContentEvent(timetoken: 17, userId: "ana", channelId: "crew", payload: custom))
        #expect(wrapped.event.payload.type == nil)
        #expect(Report(reason: "rude", messageTimetoken: 17).messageTimetoken == 17)
        #expect(
            Invite(channelId: "crew", channelType: .group, invitedByUserId: "ana", invitationTimetoken: 17).channelType
                == .group)
        #expect(Typing(userId: "ana", isTyping: true) == Typing(userId: "ana", isTyping: true))
    }
}
