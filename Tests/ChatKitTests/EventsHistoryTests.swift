import ChatKit
import ChatRemote
import TestSupport
import Testing

@Suite("The history of events") struct EventsHistoryTests {
    private func fill(_ chat: Chat) async throws -> [Timetoken] {
        var timetokens: [Timetoken] = []
        for number in 0..<5 {
            timetokens.append(
                try await chat.channel("room.1").emitCustomEvent(payload: ["n": number], messageType: "counted"))
        }
        return timetokens
    }

    @Test("begins before its start and ends with its end, oldest first", arguments: MatchStrategy.allCases)
    func bounds(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let timetokens = try await fill(chat)
            let (events, isMore) = try await chat.getEventsHistory(
                channelId: "room.1", startTimetoken: timetokens[4], endTimetoken: timetokens[1])
            #expect(events.map(\.event.timetoken) == Array(timetokens[1...3]))
            #expect(!isMore)
        }
    }

    @Test("returns the newest events and reports whether there are more", arguments: MatchStrategy.allCases)
    func more(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let timetokens = try await fill(chat)
            let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 2)
            #expect(events.map(\.event.timetoken) == Array(timetokens[3...4]))
            #expect(isMore)
            let older = try await chat.getEventsHistory(channelId: "room.1", startTimetoken: timetokens[3], count: 3)
            #expect(older.events.map(\.event.timetoken) == Array(timetokens[0...2]))
            #expect(!older.isMore)
        }
    }

    @Test("returns messages, and unknown types as custom events", arguments: MatchStrategy.allCases)
    func contents(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            try await channel.publish(["type": "text", "text": "hello"])
            try await channel.publish(42)
            try await channel.emitCustomEvent(payload: ["type": "unheard-of"], messageType: "order.paid")
            let events = try await chat.getEventsHistory(channelId: "room.1").events.map(\.event)
            #expect((events[0].payload as? TextMessageContent)?.text == "hello")
            #expect((events[1].payload as? TextMessageContent)?.content == 42)
            #expect((events[2].payload as? CustomEvent)?.type == "order.paid")
            #expect(events.map(\.userId) == ["ana", "ana", "ana"])
        }
    }

    @Test("holds what users sent, and the rest on request", arguments: MatchStrategy.allCases)
    func sent(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = try await chat.createChannel(id: "crew", type: .group)
            let ben = try await chat.createUser(id: "ben")
            try await channel.invite(ben)
            let hello = try await channel.sendText("hello")
            let message = try #require(try await channel.getMessage(timetoken: hello))
            try await message.toggleReaction("wave")
            _ = try await message.editText("hello!")
            let order = try await channel.emitCustomEvent(payload: ["n": 1], messageType: "order.paid")
            _ = try await channel.update(name: "Crew")
            let (events, isMore) = try await chat.getEventsHistory(channelId: "crew")
            #expect(events.map(\.event.timetoken) == [hello, order])
            #expect(!isMore)
            let newest = try await chat.getEventsHistory(channelId: "crew", count: 1)
            #expect(newest.events.map(\.event.timetoken) == [order])
            #expect(newest.isMore)
            let invitations = try await chat.getEventsHistory(of: Invite.self, channelId: "ben")
            #expect(invitations.events.map(\.event.payload.channelId) == ["crew"])
            let all = try await chat.getEventsHistory(channelId: "crew", types: ["*"]).events.map(\.event.payload)
            #expect(all.contains { ($0 as? CustomEvent)?.type == "reaction.added" })
            let changed = try await chat.getEventsHistory(channelId: "crew", types: ["channel.updated"])
            #expect(changed.events.count == 1)
        }
    }

    @Test("is counted without being read, by type on request", arguments: MatchStrategy.allCases)
    func counts(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let timetokens = try await fill(chat)
            try await chat.channel("room.1").emitCustomEvent(payload: [:], messageType: "order.paid")
            #expect(try await chat.getEventsCount(channelId: "room.1") == 6)
            #expect(try await chat.getEventsCount(channelId: "room.1", types: ["order.*"]) == 1)
            let middle = try await chat.getEventsCount(
                channelId: "room.1", startTimetoken: timetokens[4], endTimetoken: timetokens[1])
            #expect(middle == 3)
        }
    }

    @Test("reads the types of a content alone, and ends a search without a result")
    func bounded() async throws {
        let targets = Observed<[String]>([])
        let server = try ScriptedServer { request in
            guard request.target.contains("/events") else { return .status(200, #"{"id":"ana"}"#) }
            targets.update { $0.append(request.target) }
            let event = #"""
                {"type":"reaction.added","kind":"action","timetoken":"17957317744856000","channel":"room.1","data":{}}
                """#
            let page = Array(repeating: event, count: 100).joined(separator: ",")
            return .status(200, #"{"data":[\#(page)],"has_more":true}"#)
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let error = await #expect(throws: ChatError.self) {
            _ = try await chat.getEventsHistory(channelId: "room.1")
        }
        #expect(error?.code == .tooMany)
        #expect(error?.message.contains("set `startTimetoken` to 17957317744856000") == true)
        #expect(targets.value.count == 100)
        await #expect(throws: ChatError.self) {
            _ = try await chat.getEventsHistory(of: Report.self, channelId: "room.1")
        }
        #expect(targets.value.last?.contains("type=report.created") == true)
        await chat.close()
    }

    @Test("refuses a count out of range", arguments: MatchStrategy.allCases)
    func count(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let error = await #expect(throws: ChatError.self) {
                _ = try await chat.getEventsHistory(channelId: "room.1", count: 251)
            }
            #expect(error?.code == .malformed)
        }
    }
}
