import ChatKit
import Testing

/// An event content of a program.
private final class Rating: EventContent, JSONCodable, Codable {
    let stars: Int
    let remark: String?

    init(stars: Int, remark: String? = nil) {
        self.stars = stars
        self.remark = remark
    }
}

/// A content that cannot be sent.
private struct Mute: EventContent {}

/// The tests of calls that are deprecated. A test cannot be deprecated itself; these functions are, and a protocol calls
/// them, so that the compiler does not warn.
private protocol OlderScenes: Sendable {
    func ownClass(_ chat: Chat) async throws
    func sequence(_ chat: Chat) async throws
    func calls(_ chat: Chat) async throws
    func mention(_ chat: Chat) async throws
    func refused(_ chat: Chat) async throws
    func merged(_ chat: Chat) async throws
    func signals(_ chat: Chat) async throws
    func channels(_ chat: Chat) async throws
    func others(_ chat: Chat) async throws
    func readReceipts(_ chat: Chat) async throws
    func nothing() async
}

@Suite("Events of the older generation") struct OlderEventTests {
    @Test("carry a class of the program to listeners and history", arguments: MatchStrategy.allCases)
    func ownClass(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.ownClass($0) }
    }

    @Test("arrive as a sequence", arguments: MatchStrategy.allCases)
    func sequence(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.sequence($0) }
    }

    @Test("make the calls of the library's own contents", arguments: MatchStrategy.allCases)
    func calls(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.calls($0) }
    }

    @Test("mention a user in the form of other libraries", arguments: MatchStrategy.allCases)
    func mention(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.mention($0) }
    }

    @Test("are refused when the content cannot be sent", arguments: MatchStrategy.allCases)
    func refused(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.refused($0) }
    }

    @Test("of the library's own contents carry additional members", arguments: MatchStrategy.allCases)
    func merged(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.merged($0) }
    }

    @Test("are told apart by the method that sent them", arguments: MatchStrategy.allCases)
    func signals(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.signals($0) }
    }
}

@Suite("Listeners of the older generation") struct OlderListenerTests {
    @Test("hand out all channels after each change, without deleted ones", arguments: MatchStrategy.allCases)
    func channels(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.channels($0) }
    }

    @Test("hand out all users, memberships and messages", arguments: MatchStrategy.allCases)
    func others(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.others($0) }
    }

    @Test("hand out the read marks of all channels", arguments: MatchStrategy.allCases)
    func readReceipts(way: MatchStrategy) async throws {
        try await way.withChat { try await OlderCalls.all.readReceipts($0) }
    }

    @Test("of nothing are silent") func nothing() async { await OlderCalls.all.nothing() }
}

private struct OlderCalls: OlderScenes {
    static let all: any OlderScenes = OlderCalls()

    @available(*, deprecated)
    func ownClass(_ chat: Chat) async throws {
        let heard = Heard<String>()
        let listener = chat.listenForEvents(type: Rating.self, channelId: "room.1") {
            heard("\($0.event.payload.stars) by \($0.event.userId) in \($0.event.channelId)")
        }
        try await listener.ready()
        try await chat.channel("room.1").emitCustomEvent(payload: ["other": true], messageType: "unrelated")
        let timetoken = try await chat.emitEvent(
            channelId: "room.1", payload: Rating(stars: 5), mergePayloadWith: ["remark": "fine"])
        #expect(await heard.next() == ["5 by ana in room.1"])
        let (ratings, isMore) = try await chat.getEventsHistory(of: Rating.self, channelId: "room.1")
        #expect(ratings.map(\.event.timetoken) == [timetoken])
        #expect(ratings.first?.event.payload.remark == "fine")
        #expect(!isMore)
        let all = try await chat.getEventsHistory(channelId: "room.1").events
        #expect((all.last?.event.payload as? CustomEvent)?.type == nil)
        listener.close()
    }

    @available(*, deprecated)
    func sequence(_ chat: Chat) async throws {
        let channel = chat.channel("room.1")
        // A listener of the same stream, which shows that the sequence is connected.
        let events: AsyncStream<EventWrapper<Custom>> = chat.listenForEvents(channelId: "room.1")
        let ready = channel.onCustomEvent { _ in }
        try await ready.ready()
        let messages = channel.connect()
        var received = messages.makeAsyncIterator()
        var custom = events.makeAsyncIterator()
        let task = Task {
            while !Task.isCancelled {
                _ = try await chat.emitEvent(channelId: "room.1", payload: Custom(data: ["n": 1]))
            }
        }
        #expect(await custom.next()?.event.payload.data["n"]?.json == 1)
        task.cancel()
        let texts = Task { while !Task.isCancelled { _ = try await channel.sendText("hi") } }
        #expect(await received.next()?.text == "hi")
        texts.cancel()
        ready.close()
    }

    @available(*, deprecated)
    func calls(_ chat: Chat) async throws {
        let ben = try await chat.acting(as: "ben")
        let crew = try await chat.createChannel(id: "crew", type: .group)
        try await chat.emitEvent(channelId: "ben", payload: Invite(channelType: .group, channelId: "crew"))
        #expect(try await crew.getMembership(userId: "ben")?.state == .invited)
        try await ben.channel("crew").join()
        let sent = try await ben.emitEvent(
            channelId: "crew", payload: TextMessageContent(text: "hi"), mergePayloadWith: ["mood": "fine"])
        let message = try #require(try await crew.getMessage(timetoken: sent))
        #expect(message.text == "hi")
        #expect(message.content["mood"] == "fine")
        try await chat.emitEvent(channelId: "crew", payload: Receipt(messageTimetoken: sent))
        #expect(try await crew.getMembership(userId: "ana")?.lastReadMessageTimetoken == sent)
        let report = Report(reason: "rude", reportedMessageTimetoken: sent, reportedMessageChannelId: "crew")
        try await chat.emitEvent(channelId: "PUBNUB_INTERNAL_MODERATION_crew", payload: report)
        #expect(try await crew.getMessageReportsHistory().events.map(\.event.payload.reason) == ["rude"])
        try await chat.emitEvent(channelId: "crew", payload: Typing(value: true))
        #expect(try await crew.getTypingUsers().userIds == ["ana"])
        try await chat.emitEvent(
            channelId: "crew", payload: Restriction(userId: "ben", channelId: "crew", ban: false, mute: true))
        #expect(try await crew.getUserRestrictions(user: ben.currentUser)?.mute == true)
    }

    @available(*, deprecated)
    func mention(_ chat: Chat) async throws {
        let heard = Heard<Mention>()
        let listener = chat.listenForEvents(type: Mention.self, channelId: "ben") { heard($0.event.payload) }
        try await listener.ready()
        let own = Heard<Mention>()
        let ben = try await chat.acting(as: "ben")
        let ownListeners = [ben.currentUser.onMentioned { own($0) }, chat.user("ben").onMentioned { own($0) }]
        for listener in ownListeners { try await listener.ready() }
        try await chat.emitEvent(
            channelId: "ben", payload: Mention(messageTimetoken: 17, channel: "crew"), mergePayloadWith: ["a": 1])
        let mention = try #require(await heard.next().first)
        #expect(mention.channel == "crew")
        #expect(mention.parentChannel == nil)
        #expect(mention.messageTimetoken == 17)
        #expect(mention.mentionedByUserId == "ana")
        #expect(await own.next(2) == [mention, mention])
        for listener in ownListeners { listener.close() }
        let stored = try await chat.getEventsHistory(channelId: "ben").events.compactMap {
            $0.event.payload as? CustomEvent
        }
        #expect(stored.map(\.type) == ["mention"])
        #expect(stored.first?.payload["a"]?.json == 1)
        listener.close()
    }

    @available(*, deprecated)
    func refused(_ chat: Chat) async throws {
        let unknown = await #expect(throws: ChatError.self) {
            try await chat.emitEvent(channelId: "room.1", payload: Mute())
        }
        #expect(unknown?.code == .malformed)
    }

    @available(*, deprecated)
    func merged(_ chat: Chat) async throws {
        let heard = Heard<String>()
        let moderation = "PUBNUB_INTERNAL_MODERATION_crew"
        let listeners = [
            chat.listenForEvents(type: Typing.self, channelId: "crew") {
                heard("\($0.event.userId) types \($0.event.payload.value)")
            },
            chat.listenForEvents(type: Receipt.self, channelId: "crew") {
                heard("\($0.event.userId) read \($0.event.payload.messageTimetoken)")
            },
            chat.listenForEvents(type: Report.self, channelId: moderation) {
                heard("reported \($0.event.payload.reportedMessageTimetoken ?? 0): \($0.event.payload.reason)")
            },
            chat.channel("crew").onMessageReported { heard("report: \($0.reason)") },
            chat.listenForEvents(type: Invite.self, channelId: "ben") {
                heard("\($0.event.userId) invites to \($0.event.payload.channelId)")
            },
            chat.user("ben").onInvited { heard("invited to \($0.channelId)") },
            chat.listenForEvents(type: Restriction.self, channelId: "ben") {
                heard("\($0.event.payload.userId) muted in \($0.event.payload.channelId): \($0.event.payload.mute)")
            },
        ]
        for listener in listeners { try await listener.ready() }
        let more: [String: any JSONCodable] = ["a": 1]
        try await chat.emitEvent(channelId: "crew", payload: Typing(value: true), mergePayloadWith: more)
        #expect(await heard.next() == ["ana types true"])
        try await chat.emitEvent(channelId: "crew", payload: Receipt(messageTimetoken: 17), mergePayloadWith: more)
        #expect(await heard.next() == ["ana read 17"])
        try await chat.emitEvent(
            channelId: moderation, payload: Report(reason: "rude", reportedMessageTimetoken: 17),
            mergePayloadWith: more)
        #expect(Set(await heard.next(2)) == ["reported 17: rude", "report: rude"])
        try await chat.emitEvent(
            channelId: "ben", payload: Invite(channelType: .group, channelId: "crew"), mergePayloadWith: more)
        #expect(Set(await heard.next(2)) == ["ana invites to crew", "invited to crew"])
        try await chat.emitEvent(
            channelId: "ben", payload: Restriction(userId: "ben", channelId: "crew", ban: false, mute: true),
            mergePayloadWith: more)
        #expect(await heard.next() == ["ben muted in crew: true"])
        let stored = try await chat.getEventsHistory(channelId: "ben").events.compactMap {
            $0.event.payload as? CustomEvent
        }
        #expect(stored.map(\.type) == ["invite", "moderation"])
        #expect(stored.allSatisfy { $0.payload["a"]?.json == 1 })
        for listener in listeners { listener.close() }
    }

    @available(*, deprecated)
    func signals(_ chat: Chat) async throws {
        let heard = Heard<String>()
        let listeners = [
            chat.listenForEvents(type: Custom.self, channelId: "room.1", customMethod: .signal) { _ in
                heard("signal")
            },
            chat.listenForEvents(type: Custom.self, channelId: "room.1") { _ in heard("publish") },
        ]
        for listener in listeners { try await listener.ready() }
        try await chat.emitEvent(channelId: "room.1", payload: Custom(data: ["a": 1], method: .signal))
        #expect(await heard.next() == ["signal"])
        try await chat.emitEvent(channelId: "room.1", payload: Custom(data: ["a": 1]))
        #expect(await heard.next() == ["publish"])
        for listener in listeners { listener.close() }
    }

    @available(*, deprecated)
    func channels(_ chat: Chat) async throws {
        let (a, b) = (try await chat.createChannel(id: "a"), try await chat.createChannel(id: "b"))
        let (all, one) = (Heard<[String]>(), Heard<String>())
        let listeners = [
            Channel.streamUpdatesOn(channels: [a, b]) { all($0.map { $0.name ?? $0.id }) },
            a.streamUpdates { one($0?.name ?? "deleted") },
        ]
        for listener in listeners { try await listener.ready() }
        _ = try await a.update(name: "A")
        #expect(await all.next() == [["A", "b"]])
        #expect(await one.next() == ["A"])
        try await a.delete()
        #expect(await all.next() == [["b"]])
        #expect(await one.next() == ["deleted"])
        for listener in listeners { listener.close() }
    }

    @available(*, deprecated)
    func others(_ chat: Chat) async throws {
        let ben = try await chat.createUser(id: "ben")
        let crew = try await chat.createChannel(id: "crew", type: .group)
        let membership = try await crew.invite(ben)
        let timetoken = try await crew.sendText("hi")
        let message = try #require(try await crew.getMessage(timetoken: timetoken))
        let (users, memberships, messages) = (Heard<[String?]>(), Heard<[String?]>(), Heard<[Bool]>())
        let listeners = [
            User.streamUpdatesOn(users: [ben]) { users($0.map(\.name)) },
            Membership.streamUpdatesOn(memberships: [membership]) { memberships($0.map(\.status)) },
            Message.streamUpdatesOn(messages: [message]) { messages($0.map(\.isDeleted)) },
        ]
        for listener in listeners { try await listener.ready() }
        _ = try await ben.update(name: "Ben")
        #expect(await users.next() == [["Ben"]])
        try await ben.delete()
        #expect(await users.next() == [[]])
        try await message.delete()
        #expect(await messages.next() == [[true]])
        for listener in listeners { listener.close() }
    }

    @available(*, deprecated)
    func readReceipts(_ chat: Chat) async throws {
        let ben = try await chat.acting(as: "ben")
        _ = try await chat.createGroupConversation(invitedUsers: [ben.currentUser], channelId: "crew")
        try await ben.channel("crew").join()
        let sent = try await chat.channel("crew").sendText("hi")
        let heard = Heard<ReadReceipt>()
        let listener = chat.streamReadReceipts { heard($0) }
        try await listener.ready()
        try await ben.channel("crew").markAsRead()
        #expect(await heard.next() == [ReadReceipt(userId: "ben", lastReadTimetoken: sent)])
        listener.close()
    }

    @available(*, deprecated)
    func nothing() async {
        #expect(await Channel.streamUpdatesOn(channels: []).first { _ in true } == nil)
        Channel.streamUpdatesOn(channels: []) { _ in }.close()
    }
}
