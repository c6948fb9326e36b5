import ChatKit
import Testing

@Suite("Messages") struct MessageTests {
    @Test("are received as they were sent", arguments: MatchStrategy.allCases)
    func received(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let heard = Heard<Message>()
            let listener = channel.onMessageReceived { heard($0) }
            try await listener.ready()
            let timetoken = try await channel.sendText("hello", meta: ["lang": "en"])
            let message = try #require(await heard.next().first)
            #expect(message.timetoken == timetoken)
            #expect(message.text == "hello")
            #expect(message.userId == "ana")
            #expect(message.channelId == "room.1")
            #expect(message.meta?["lang"]?.json == "en")
            listener.close()
        }
    }

    @Test(
        "are edited, reacted to and deleted, and their listener receives each change", arguments: MatchStrategy.allCases
    )
    func changes(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let timetoken = try await channel.sendText("helo")
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            let heard = Heard<Message>()
            let listener = message.onUpdated { heard($0) }
            try await listener.ready()
            #expect(try await message.editText("hello").text == "hello")
            #expect(await heard.next().first?.isEdited == true)
            #expect(try await message.toggleReaction("wave").reactions == ["wave": 1])
            #expect(await heard.next().first?.reactions == ["wave": 1])
            #expect(try await message.hasUserReaction("wave"))
            #expect(try await message.getReactions().map(\.userId) == ["ana"])
            #expect(try await message.toggleReaction("wave").reactions == [:])
            #expect(await heard.next().first?.reactions == [:])
            try await message.delete(soft: true)
            let deleted = try #require(await heard.next().first)
            #expect(deleted.isDeleted)
            #expect(deleted.text == "")
        }
    }

    @Test(
        "have labels of PubNub's form, and others are refused before anything is sent",
        arguments: MatchStrategy.allCases)
    func labels(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            for label in ["ab", "a b", "pn_x", "pn-x", "_abc", "order.paid", String(repeating: "a", count: 51)] {
                await #expect(throws: ChatError.self) { try await channel.publish(1, customMessageType: label) }
                await #expect(throws: ChatError.self) { try await channel.signal(1, customMessageType: label) }
            }
            #expect(try await channel.getHistory().messages.isEmpty)
            try await channel.publish("hi", customMessageType: "abc_1-")
            #expect(try await channel.getHistory().messages.map(\.customMessageType) == ["abc_1-"])
        }
    }

    @Test("have no expiry of their own with 0 hours", arguments: MatchStrategy.allCases)
    func noExpiry(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            try await channel.publish("kept", storeTTL: 0)
            _ = try await channel.sendText("kept too", ttlHours: 0)
            #expect(try await channel.getHistory().messages.count == 2)
        }
    }

    @Test("are removed by a hard deletion", arguments: MatchStrategy.allCases)
    func hardDeletion(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let timetoken = try await channel.sendText("oops")
            try await channel.getMessage(timetoken: timetoken)?.delete()
            #expect(try await channel.getMessage(timetoken: timetoken) == nil)
            #expect(try await channel.getHistory().messages.isEmpty)
        }
    }

    @Test("are in history in their current state, oldest first", arguments: MatchStrategy.allCases)
    func history(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            var timetokens: [Timetoken] = []
            for text in ["one", "two", "three"] { timetokens.append(try await channel.sendText(text)) }
            try await channel.emitCustomEvent(payload: [:], messageType: "no.message")
            _ = try await channel.getMessage(timetoken: timetokens[1])?.editText("zwei")
            let all = try await channel.getHistory()
            #expect(all.messages.map(\.text) == ["one", "zwei", "three"])
            #expect(!all.isMore)
            let some = try await channel.getHistory(
                startTimetoken: timetokens[2], endTimetoken: timetokens[0], count: 1)
            #expect(some.messages.map(\.text) == ["zwei"])
            #expect(some.isMore)
        }
    }

    @Test("mention users, who are notified, and quote others", arguments: MatchStrategy.allCases)
    func links(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.acting(as: "ben")
            let heard = Heard<Mention>()
            let listener = ben.currentUser.onMentioned { heard($0) }
            try await listener.ready()
            let channel = chat.channel("room.1")
            let first = try await channel.sendText("who knows?")
            let question = try #require(try await channel.getMessage(timetoken: first))
            let second = try await channel.sendText("ben does", usersToMention: ["ben"], quoting: question)
            let mention = try #require(await heard.next().first)
            #expect(mention.messageTimetoken == second)
            #expect(mention.channelId == "room.1")
            #expect(mention.mentionedByUserId == "ana")
            let answer = try #require(try await channel.getMessage(timetoken: second))
            #expect(answer.quotedMessage?.timetoken == first)
            #expect(answer.quotedMessage?.text == "who knows?")
        }
    }

    @Test("mention every member, on the channel itself", arguments: MatchStrategy.allCases)
    func everybody(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = chat.channel("room.1")
            var events = chat.subscription(channels: ["room.1"]).makeAsyncIterator()
            try await events.open()
            try await room.sendText("all of you", mentionsEverybody: true)
            #expect(await events.next()?.type == "message.created")
            #expect(await events.next()?.type == "user.mentioned")
        }
    }

    @Test("can be given another payload", arguments: MatchStrategy.allCases)
    func contents(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = chat.channel("room.1")
            let timetoken = try await room.publish(["text": "draft", "page": 1] as AnyJSON)
            let message = try #require(try await room.getMessage(timetoken: timetoken))
            #expect(try await message.editText("better").content == ["text": "better", "page": 1])
            #expect(try await message.edit(content: [1, 2]).content == [1, 2])
        }
    }

    @Test("have threads of replies", arguments: MatchStrategy.allCases)
    func threads(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let root = try #require(
                try await channel.getMessage(timetoken: try await channel.sendText("lunch?")))
            let thread = root.createThread()
            try await thread.sendText("yes")
            try await thread.sendText("no")
            let replies = try await thread.getHistory().messages
            #expect(replies.map(\.text) == ["yes", "no"])
            #expect(replies.allSatisfy { $0.parentTimetoken == root.timetoken })
            #expect(try await channel.getMessage(timetoken: root.timetoken)?.replyCount == 2)
        }
    }

    @Test("are pinned, forwarded and reported", arguments: MatchStrategy.allCases)
    func deeds(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = try await chat.createChannel(id: "room.1")
            let heard = Heard<Report>()
            let listener = channel.onMessageReported { heard($0) }
            try await listener.ready()
            let timetoken = try await channel.sendText("read this")
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            try await message.pin()
            #expect(try await channel.getPinnedMessage()?.timetoken == timetoken)
            try await message.unpin()
            #expect(try await channel.getPinnedMessage() == nil)
            let copy = try await message.forward(to: "room.2")
            #expect(try await chat.channel("room.2").getMessage(timetoken: copy)?.text == "read this")
            try await message.report(reason: "shouting")
            let report = try #require(await heard.next().first)
            #expect(report.reason == "shouting")
            #expect(report.messageTimetoken == timetoken)
            #expect(report.reportedUserId == "ana")
            #expect(report.text == "read this")
            let reports = try await channel.getMessageReportsHistory().events
            #expect(reports.map(\.event.payload) == [report])
        }
    }

    @Test("carry an app's attachments", arguments: MatchStrategy.allCases)
    func actions(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let timetoken = try await channel.sendText("water the plants")
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            let done = try await message.addAction(type: "task", value: "done")
            #expect(done.userId == "ana")
            let again = await #expect(throws: ChatError.self) {
                try await message.addAction(type: "task", value: "done")
            }
            #expect(again?.code == .conflict)
            #expect(try await message.getActions() == [done])
            try await message.removeAction(done)
            #expect(try await message.getActions().isEmpty)
        }
    }

    @Test("are restored when their deletion is undone", arguments: MatchStrategy.allCases)
    func restoring(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let timetoken = try await channel.sendText("wait")
            let message = try #require(try await channel.getMessage(timetoken: timetoken))
            let early = await #expect(throws: ChatError.self) { _ = try await message.restore() }
            #expect(early?.code == .conflict)
            try await message.delete(soft: true)
            #expect(try await channel.getMessage(timetoken: timetoken)?.isDeleted == true)
            let back = try await message.restore()
            #expect(back.text == "wait")
            #expect(!back.isDeleted)
        }
    }

    @Test("name the message they reply to when they arrive", arguments: MatchStrategy.allCases)
    func reply(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let root = try #require(try await channel.getMessage(timetoken: try await channel.sendText("lunch?")))
            var messages = channel.stream.messageReceived().makeAsyncIterator()
            try await messages.open()
            try await root.createThread().sendText("at noon")
            #expect(await messages.next()?.parentTimetoken == root.timetoken)
        }
    }

    @Test("have a user's reaction removed that is beyond the first page", arguments: MatchStrategy.allCases)
    func manyReactions(way: MatchStrategy) async throws {
        try await way.withBackend { backend, _ in
            let chat = try await Chat(backend.acting(as: "zoe"))
            let timetoken = try await chat.channel("room.1").sendText("who comes?")
            for number in 0..<251 {
                try await backend.acting(as: "user-\(number)").react("wave", to: timetoken, in: "room.1")
            }
            let message = try #require(try await chat.channel("room.1").getMessage(timetoken: timetoken))
            #expect(try await message.toggleReaction("wave").reactions == ["wave": 252])
            #expect(try await message.getReactions().count == 252)
            #expect(try await message.toggleReaction("wave").reactions == ["wave": 251])
        }
    }
}
