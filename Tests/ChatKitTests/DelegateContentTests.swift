import ChatKit
import Testing

/// Describes the contents of the callbacks that it receives.
private final class Reader: ChannelDelegate {
    let heard = Heard<String>()

    private func name(_ user: User?) -> String { user?.name ?? "-" }
    private func name(_ channel: Channel) -> String {
        "\(channel.name ?? "-") of \(channel.joinedMemberCount ?? 0)/\(channel.memberCount ?? 0)"
    }

    func channel(_ channel: Channel, didReceive message: Message) {
        heard(
            "\(name(message.sender)): \(message.text) in \(name(channel)), \(message.parentTimetoken == nil ? "" : "reply")"
        )
    }
    func channel(_ channel: Channel, didUpdate message: Message) {
        let old = message.oldValues["data"]?["text"]?.string ?? "-"
        heard("\(name(message.sender)): \(old) -> \(message.text) in \(name(channel))")
    }
    func channel(_ channel: Channel, didDelete message: Message) {
        heard("\(name(message.sender)) deleted \(message.timetoken) \(message.isDeleted) in \(name(channel))")
    }
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent) {
        heard("\(name(event.user)) \(event.key) \(event.count) in \(name(channel))")
    }
    func channel(_ channel: Channel, didUpdateReadReceipt receipt: ReceiptEvent) {
        heard("\(name(receipt.user)) read \(receipt.timetoken), missing \(receipt.missingMemberCount ?? -1)")
    }
    func channel(_ channel: Channel, didUpdateTypingUsers users: [User]) {
        heard("typing \(users.map { name($0) })")
    }
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent) {
        heard(
            "thread \(event.replyCount) \(event.mostReplies.map { name($0) }) \(event.lastReplyTimetoken == event.replyTimetoken)"
        )
    }
    func channel(_ channel: Channel, userWasMuted user: User, restriction: Restriction) {
        heard("muted \(name(user)): \(restriction.reason ?? "-")")
    }
    func channel(_ channel: Channel, userDidLeave user: User, reason: String) { heard("left \(name(user)): \(reason)") }
    func channelWasChanged(_ channel: Channel) {
        if let message = channel.lastMessage { heard("last \(message.text) of \(name(message.sender))") }
        if let count = channel.unreadMessageCount { heard("unread \(count) in \(channel.id)") }
        if channel.lastMessage == nil, channel.unreadMessageCount == nil { heard("changed \(channel.id)") }
    }
    func channelDidChangeMemberCount(_ channels: [Channel]) { heard("count \(channels.map { name($0) })") }
    func channelDidChangeParticipantCount(_ channels: [Channel]) {
        heard("inside \(channels.map { $0.participantCount ?? -1 })")
    }

    /// Waits for a callback with these contents.
    func meets(_ contents: String) async -> Bool {
        var others: [String] = []
        while let next = await heard.next().first, next != "changed fence" {
            if next == contents { return true }
            others.append(next)
        }
        Issue.record("not among \(others)")
        return false
    }
}

@Suite("A delegate's parameters", .timeLimit(.minutes(2))) struct DelegateContentTests {
    /// A group of `ana` and `ben`, with a reader of `ana`, and the open channel `fence` that ends a wait.
    private func group(_ chat: Chat) async throws -> (reader: Reader, ben: Chat) {
        let ben = try await chat.acting(as: "ben")
        _ = try await ben.currentUser.update(name: "Ben")
        _ = try await chat.createGroupConversation(
            invitedUsers: [ben.currentUser], channelId: "crew", name: "Crew")
        try await ben.channel("crew").join()
        let reader = Reader()
        try await chat.addChannelDelegate(reader, identifier: "a").ready()
        return (reader, ben)
    }

    @Test("hold the sender, the channel with its counts, and replaced values", arguments: MatchStrategy.allCases)
    func messages(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (reader, ben) = try await group(chat)
            let channel = ben.channel("crew")
            let timetoken = try await channel.sendText("helo")
            #expect(await reader.meets("Ben: helo in Crew of 2/2, "))
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            _ = try await message.editText("hello")
            #expect(await reader.meets("Ben: helo -> hello in Crew of 2/2"))
            try await message.toggleReaction("wave")
            #expect(await reader.meets("Ben wave 1 in Crew of 2/2"))
            try await message.createThread().sendText("indeed")
            #expect(await reader.meets(#"thread 1 ["Ben"] true"#))
            try await message.delete(soft: true)
            #expect(await reader.meets("Ben deleted \(timetoken) true in Crew of 2/2"))
            let second = try await channel.sendText("gone")
            try await channel.getMessage(timetoken: second)?.delete()
            #expect(await reader.meets("Ben deleted \(second) true in Crew of 2/2"))
        }
    }

    @Test("hold receipts, typing users and reasons", arguments: MatchStrategy.allCases)
    func others(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (reader, ben) = try await group(chat)
            let sent = try await chat.channel("crew").sendText("hi")
            try await ben.channel("crew").markAsRead()
            #expect(await reader.meets("Ben read \(sent), missing 1"))
            try await ben.channel("crew").startTyping()
            #expect(await reader.meets(#"typing ["Ben"]"#))
            try await chat.channel("crew").setRestrictions(user: ben.currentUser, mute: true, reason: "spam")
            #expect(await reader.meets("muted Ben: spam"))
            try await ben.channel("crew").leave()
            #expect(await reader.meets("left Ben: LEFT_BY_OWN_CHOICE"))
        }
    }

    @Test("hold the numbers of members and participants", arguments: MatchStrategy.allCases)
    func counts(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (reader, ben) = try await group(chat)
            let cleo = try await chat.acting(as: "cleo")
            try await ben.channel("crew").invite(cleo.currentUser)
            #expect(await reader.meets(#"count ["Crew of 2/3"]"#))
            #expect(try await chat.getChannel(channelId: "crew")?.memberCount == 3)
            #expect(try await chat.getChannel(channelId: "crew")?.joinedMemberCount == 2)
            let lobby = try await chat.createChannel(id: "lobby", type: .open)
            #expect(lobby.memberCount == nil)
            try await lobby.enter()
            #expect(await reader.meets("inside [1]"))
        }
    }

    @Test("announce a channel's last message, unread messages and own settings", arguments: MatchStrategy.allCases)
    func changes(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (reader, ben) = try await group(chat)
            try await ben.channel("crew").sendText("news")
            #expect(await reader.meets("unread 1 in crew"))
            try await ben.channel("crew").sendText("more")
            #expect(await reader.meets("last more of Ben"))
            let membership = try #require(try await chat.channel("crew").getMembership(userId: "ana"))
            _ = try await membership.update(pushPreference: .mentions)
            #expect(await reader.meets("changed crew"))
        }
    }

    @Test("announce that a distinct channel is distinct no longer", arguments: MatchStrategy.allCases)
    func distinct(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (ben, cleo) = (try await chat.acting(as: "ben"), try await chat.acting(as: "cleo"))
            _ = try await chat.createGroupConversation(
                invitedUsers: [ben.currentUser], channelId: "pair", isDistinct: true)
            let reader = Reader()
            try await chat.addChannelDelegate(reader, identifier: "a").ready()
            try await chat.channel("pair").invite(cleo.currentUser)
            #expect(await reader.meets("changed pair"))
        }
    }
}
