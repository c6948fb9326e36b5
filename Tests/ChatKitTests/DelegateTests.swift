import ChatKit
import Testing

/// Records the callbacks that it receives.
private final class Scribe: ChannelDelegate, UserEventDelegate, ConnectionDelegate {
    let heard = Heard<String>()

    func channel(_ channel: Channel, didReceive message: Message) { heard("received \(message.text)") }
    func channel(_ channel: Channel, didUpdate message: Message) { heard("updated \(message.text)") }
    func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken) { heard("deleted \(timetoken)") }
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent) {
        heard("\(event.isAdded ? "+" : "-")\(event.key)")
    }
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent) { heard("replies \(event.replyCount)") }
    func channelWasChanged(_ channel: Channel) {
        guard channel.lastMessage == nil, channel.unreadMessageCount == nil else { return }
        heard("changed \(channel.name ?? "-")")
    }
    func channelWasDeleted(_ id: String, channelType: ChannelType) { heard("deleted \(id) \(channelType)") }
    func channel(_ channel: Channel, userDidJoin user: User) { heard("joined \(user.id)") }
    func channel(_ channel: Channel, userDidLeave user: User) { heard("left \(user.id)") }
    func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?) {
        heard("invited \(invitees.map(\.id)) by \(inviter?.id ?? "-")")
    }
    func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?) {
        heard("declined \(invitee.id)")
    }
    func channelDidChangeMemberCount(_ channels: [Channel]) { heard("count \(channels.map(\.id))") }
}

@Suite("A channel delegate") struct DelegateTests {
    /// A group of `ana` and `ben`, with a delegate of `ana`.
    private func group(_ chat: Chat) async throws -> (scribe: Scribe, ben: Chat) {
        let ben = try await chat.acting(as: "ben")
        _ = try await chat.createGroupConversation(invitedUsers: [ben.currentUser], channelId: "crew")
        try await ben.channel("crew").join()
        let scribe = Scribe()
        try await chat.addChannelDelegate(scribe, identifier: "a").ready()
        return (scribe, ben)
    }

    @Test(
        "receives others' messages and their changes, and not its own device's", arguments: MatchStrategy.allCases)
    func messages(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (scribe, ben) = try await group(chat)
            try await chat.channel("crew").sendText("my own")
            let channel = ben.channel("crew")
            let timetoken = try await channel.sendText("helo")
            #expect(await scribe.heard.next() == ["received helo"])
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            _ = try await message.editText("hello")
            #expect(await scribe.heard.next() == ["updated hello"])
            try await message.toggleReaction("wave")
            #expect(await scribe.heard.next() == ["+wave"])
            try await message.delete()
            #expect(await scribe.heard.next() == ["deleted \(timetoken)"])
        }
    }

    @Test("receives invitations, joins and leaves", arguments: MatchStrategy.allCases)
    func members(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (scribe, ben) = try await group(chat)
            let cleo = try await chat.acting(as: "cleo")
            try await ben.channel("crew").invite(cleo.currentUser)
            var told = await scribe.heard.next()
            while told.last != #"invited ["cleo"] by ben"# { told += await scribe.heard.next() }
            try await cleo.channel("crew").join()
            while told.last != "joined cleo" { told += await scribe.heard.next() }
            try await cleo.channel("crew").leave()
            while told.last != "left cleo" { told += await scribe.heard.next() }
            #expect(told.filter { !$0.hasPrefix("count") }.count == 3)
        }
    }

    @Test("replaces the delegate with its identifier, and no other", arguments: MatchStrategy.allCases)
    func identifiers(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (first, ben) = try await group(chat)
            let (second, third) = (Scribe(), Scribe())
            try await chat.addChannelDelegate(second, identifier: "b").ready()
            try await chat.addChannelDelegate(third, identifier: "a").ready()
            try await ben.channel("crew").sendText("one")
            #expect(await second.heard.next() == ["received one"])
            #expect(await third.heard.next() == ["received one"])
            chat.removeChannelDelegate(forIdentifier: "b")
            chat.removeChannelDelegate(forIdentifier: "b")
            try await chat.addChannelDelegate(first, identifier: "c").ready()
            try await ben.channel("crew").sendText("two")
            #expect(await third.heard.next() == ["received two"])
            // This delegate was replaced before the first message.
            #expect(await first.heard.next() == ["received two"])
        }
    }

    @Test("replaces another between two events, so that none is lost", arguments: MatchStrategy.allCases)
    func replaced(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (first, ben) = try await group(chat)
            try await ben.channel("crew").sendText("one")
            #expect(await first.heard.next() == ["received one"])
            let second = Scribe()
            // Adding a delegate does not wait until it is connected.
            chat.addChannelDelegate(second, identifier: "a")
            try await ben.channel("crew").sendText("two")
            #expect(await second.heard.next() == ["received two"])
        }
    }

    @Test("is given the channel of the event, whatever a payload says", arguments: MatchStrategy.allCases)
    func payload(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (_, ben) = try await group(chat)
            let places = Places()
            try await chat.addChannelDelegate(places, identifier: "places").ready()
            let channel: AnyJSON = ["id": "evil", "type": "open", "name": "Evil"]
            try await ben.channel("crew").publish(["text": "spoof", "channel": channel])
            #expect(await places.heard.next() == ["crew group -"])
        }
    }
}

/// Records the channels of received messages.
private final class Places: ChannelDelegate {
    let heard = Heard<String>()

    func channel(_ channel: Channel, didReceive message: Message) {
        heard("\(channel.id) \(channel.type) \(channel.name ?? "-")")
    }
}
