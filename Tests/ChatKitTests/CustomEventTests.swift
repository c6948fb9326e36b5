import ChatKit
import Testing

@Suite("Custom events") struct CustomEventTests {
    @Test("reach a listener with their type, sender and payload", arguments: MatchStrategy.allCases)
    func listener(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("support.42")
            let heard = Heard<CustomEvent>()
            let listener = channel.onCustomEvent(messageType: "customer-satisfaction") { heard($0) }
            try await listener.ready()
            try await channel.emitCustomEvent(payload: ["other": true], messageType: "something-else")
            let timetoken = try await channel.emitCustomEvent(
                payload: ["chatID": "42", "stars": 5, "open": nil as String?], messageType: "customer-satisfaction")
            let event = try #require(await heard.next().first)
            #expect(event.timetoken == timetoken)
            #expect(event.userId == "ana")
            #expect(event.type == "customer-satisfaction")
            #expect(event.payload["chatID"]?.rawValue as? String == "42")
            #expect(event.payload["stars"]?.rawValue as? Int64 == 5)
            #expect(event.payload["open"]?.rawValue == nil)
            listener.close()
        }
    }

    @Test(
        "of the older generation are sent with the member that older listeners expect",
        arguments: MatchStrategy.allCases)
    func older(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            let heard = Heard<[String: AnyJSON]>()
            let calls: any OlderCalls = OlderGeneration()
            for isSignal in [false, true] {
                let listener = calls.listen(chat, to: "room.1", isSignal: isSignal) { heard($0) }
                try await listener.ready()
                try await calls.emit(chat, on: "room.1", ["stars": 5], isSignal: isSignal)
                #expect(await heard.next().first == ["stars": 5])
                listener.close()
            }
            let event = try #require(try await chat.getEventsHistory(channelId: channel.id).events.first)
            let custom = try #require(event.event.payload as? CustomEvent)
            #expect(custom.payload["type"]?.json == "custom")
        }
    }

    @Test("have no type when they are sent without one", arguments: MatchStrategy.allCases)
    func withoutType(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            var events = channel.stream.customEvents().makeAsyncIterator()
            try await events.open()
            try await channel.publish("no custom event")
            try await channel.emitCustomEvent(payload: ["a": ["b": 1.5]])
            let event = try #require(await events.next())
            #expect(event.type == nil)
            #expect(event.payload["a"]?.json == ["b": 1.5])
        }
    }

    @Test(
        "that are not stored are absent from history and reach listeners",
        arguments: MatchStrategy.allCases)
    func passing(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            var events = channel.stream.customEvents().makeAsyncIterator()
            try await events.open()
            try await channel.emitCustomEvent(payload: [:], messageType: "kept")
            try await channel.emitCustomEvent(payload: [:], messageType: "passing", storeInHistory: false)
            #expect(await events.next()?.type == "kept")
            #expect(await events.next()?.type == "passing")
            let history = try await chat.getEventsHistory(channelId: "room.1")
            #expect(history.events.map { ($0.event.payload as? CustomEvent)?.type } == ["kept"])
        }
    }

    @Test("cannot use a type of the gateway's own", arguments: MatchStrategy.allCases)
    func reserved(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let error = await #expect(throws: ChatError.self) {
                try await chat.channel("room.1").emitCustomEvent(payload: [:], messageType: "message.created")
            }
            #expect(error?.code == .malformed)
            #expect(error?.slug == "type_reserved")
        }
    }
}

/// The deprecated calls, which a test reaches without a warning.
private protocol OlderCalls {
    func emit(_ chat: Chat, on channel: String, _ data: [String: any JSONCodable], isSignal: Bool) async throws
    func listen(
        _ chat: Chat, to channel: String, isSignal: Bool, _ callback: @escaping @Sendable ([String: AnyJSON]) -> Void
    ) -> AutoCloseable
}

private struct OlderGeneration: OlderCalls {
    @available(*, deprecated)
    func emit(_ chat: Chat, on channel: String, _ data: [String: any JSONCodable], isSignal: Bool) async throws {
        _ = try await chat.emitEvent(
            channelId: channel, payload: Custom(data: data, method: isSignal ? .signal : .publish))
    }

    @available(*, deprecated)
    func listen(
        _ chat: Chat, to channel: String, isSignal: Bool, _ callback: @escaping @Sendable ([String: AnyJSON]) -> Void
    ) -> AutoCloseable {
        chat.listenForEvents(type: Custom.self, channelId: channel, customMethod: isSignal ? .signal : .publish) {
            callback($0.event.payload.data.mapValues(\.json))
        }
    }
}
