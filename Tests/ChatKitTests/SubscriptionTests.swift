import ChatKit
import ChatRemote
import Testing

@Suite("A subscription") struct SubscriptionTests {
    @Test("follows patterns of channels, from a position on", arguments: MatchStrategy.allCases)
    func pattern(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let first = try await chat.channel("orders.eu").publish(["n": 1])
            try await chat.channel("orders.eu").publish(["n": 2])
            try await chat.channel("elsewhere").publish(["n": 3])
            try await chat.channel("orders.us").signal("hi")
            var events = chat.subscription(channels: ["orders.*"], since: first).makeAsyncIterator()
            #expect(await events.next()?.channel.name == "orders.eu")
            let signal = try #require(await events.next())
            #expect(signal.channel.name == "orders.us")
            #expect(signal.kind == .signal)
            #expect(AnyJSON(signal.data) == "hi")
        }
    }

    @Test("receives events that match a filter", arguments: MatchStrategy.allCases)
    func filter(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("orders")
            let start = try await channel.publish("begin")
            for amount in [10, 2000, 30] { try await channel.publish(["amount": amount]) }
            try await channel.publish(["amount": 4000])
            var events = chat.subscription(channels: ["orders"], filter: "data.amount > 1000", since: start)
                .makeAsyncIterator()
            #expect(AnyJSON(try #require(await events.next()).data) == ["amount": 2000])
            #expect(AnyJSON(try #require(await events.next()).data) == ["amount": 4000])
        }
    }

    @Test("sorts events by kind for its closures", arguments: MatchStrategy.allCases)
    func closures(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let subscription = chat.subscription(channels: ["room.1"])
            subscription.onEvent = { heard("event \($0.event.type)") }
            subscription.onMessage = { heard("message \($0.data)") }
            subscription.onSignal = { heard("signal \($0.data)") }
            subscription.subscribe()
            try await subscription.ready()
            let channel = chat.channel("room.1")
            try await channel.publish("m")
            try await channel.signal("s")
            try await channel.emitCustomEvent(payload: [:], messageType: "t")
            #expect(
                await heard.next(5) == [
                    "event message.created", #"message "m""#, "event signal.sent", #"signal "s""#, "event t",
                ])
        }
    }

    @Test("calls no closure after its end", arguments: MatchStrategy.allCases)
    func unsubscribed(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (ended, other) = (Heard<String>(), Heard<String>())
            let set = SubscriptionSet(subscriptions: [
                chat.subscription(channels: ["a"]), chat.subscription(channels: ["b"]),
            ])
            for subscription in set.subscriptions { subscription.onMessage = { ended("\($0.data)") } }
            set.subscribe()
            try await set.ready()
            try await chat.channel("a").publish(1)
            #expect(await ended.next() == ["1"])
            let still = set.subscriptions[1].clone()
            still.onMessage = { other("\($0.data)") }
            chat.unsubscribeAll()
            still.subscribe()
            try await still.ready()
            try await chat.channel("b").publish(2)
            #expect(await other.next() == ["2"])
            try await chat.channel("a").publish(3)
            set.subscribe()
            try await set.ready()
            try await chat.channel("a").publish(4)
            #expect(await ended.next() == ["4"])
        }
    }

    @Test("does not receive a fire, which is for webhooks only", arguments: MatchStrategy.allCases)
    func fire(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            var events = chat.subscription(channels: ["room.1"]).makeAsyncIterator()
            try await events.open()
            try await channel.fire(["silent": true])
            try await channel.publish("loud", meta: ["lang": "en"], customMessageType: "greeting")
            let event = try #require(await events.next())
            #expect(AnyJSON(event.data) == "loud")
            #expect(event.customType == "greeting")
            #expect(event.meta.map { AnyJSON($0) } == ["lang": "en"])
        }
    }

    @Test("receives everything in order when far more arrives than it may buffer", arguments: MatchStrategy.allCases)
    func flood(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("busy")
            var events = chat.subscription(channels: ["busy"]).makeAsyncIterator()
            try await events.open()
            await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { for number in 0..<200 { try await channel.publish(number) } }
                }
            }
            var last = Timetoken.zero
            for _ in 0..<1600 {
                let event = try #require(await events.next())
                #expect(event.timetoken > last)
                last = event.timetoken
            }
        }
    }

    @Test("sorts events of PubNub's wire by the kind in the envelope")
    func wire() async throws {
        try await withGateway { url in
            let chat = try await Chat(url: url, key: "dev", user: "ana")
            let heard = Heard<String>()
            let subscription = chat.subscription(channels: ["room"])
            subscription.onMessage = { heard("message \($0.type)") }
            subscription.onSignal = { heard("signal \($0.type)") }
            subscription.onFileEvent = { heard("file \($0.data)") }
            subscription.onMessageAction = { heard("action \($0.event.type)") }
            subscription.onAppContext = { heard("record \($0.event.type)") }
            subscription.subscribe()
            try await subscription.ready()
            let file = "%7B%22file%22%3A%7B%22id%22%3A%22f%22%7D%7D"
            let signal = "%7B%22x%22%3A1%7D"
            _ = try await Operator(url: url).call("GET", "/v1/files/publish-file/demo/demo/0/room/0/\(file)?uuid=ben")
            #expect(await heard.next() == [#"file {"file":{"id":"f"}}"#])
            _ = try await Operator(url: url).call("GET", "/signal/demo/demo/0/room/0/\(signal)?uuid=ben")
            #expect(await heard.next() == ["signal signal.sent"])
            let timetoken = try await chat.channel("room").publish("m")
            #expect(await heard.next() == ["message message.created"])
            _ = try await chat.channel("room").getMessage(timetoken: timetoken)?.editText("n")
            #expect(await heard.next() == ["action message.updated"])
            try await chat.channel("room").emitCustomEvent(payload: [:], messageType: "channel.shouted")
            #expect(await heard.next() == ["message channel.shouted"])
            _ = try await Operator(url: url).call("PUT", "/v1/channels/room", ["kind": "open"])
            #expect(await heard.next() == ["record channel.created"])
            await chat.close()
        }
    }
}
