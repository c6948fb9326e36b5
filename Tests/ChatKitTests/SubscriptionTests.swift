import ChatKit
import Testing

@Suite("A subscription") struct SubscriptionTests {
    @Test("follows patterns of channels, from a position on", arguments: Way.allCases)
    func pattern(way: Way) async throws {
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

    @Test("hears what a filter lets through", arguments: Way.allCases)
    func filter(way: Way) async throws {
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

    @Test("sorts events by what they are for its closures", arguments: Way.allCases)
    func closures(way: Way) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let subscription = chat.subscription(channels: ["room.1"])
            subscription.onEvent = { heard("event \($0.type)") }
            subscription.onMessage = { heard("message \($0.data)") }
            subscription.onSignal = { heard("signal \($0.data)") }
            subscription.subscribe()
            await subscription.ready()
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

    @Test("tells nothing any more once it is ended", arguments: Way.allCases)
    func unsubscribed(way: Way) async throws {
        try await way.withChat { chat in
            let (ended, other) = (Heard<String>(), Heard<String>())
            let set = SubscriptionSet([chat.subscription(channels: ["a"]), chat.subscription(channels: ["b"])])
            for subscription in set.subscriptions { subscription.onMessage = { ended("\($0.data)") } }
            set.subscribe()
            await set.ready()
            try await chat.channel("a").publish(1)
            #expect(await ended.next() == ["1"])
            let still = set.subscriptions[1].clone()
            still.onMessage = { other("\($0.data)") }
            chat.unsubscribeAll()
            still.subscribe()
            await still.ready()
            try await chat.channel("b").publish(2)
            #expect(await other.next() == ["2"])
            try await chat.channel("a").publish(3)
            set.subscribe()
            await set.ready()
            try await chat.channel("a").publish(4)
            #expect(await ended.next() == ["4"])
        }
    }

    @Test("does not hear a fire, which is for webhooks alone", arguments: Way.allCases)
    func fire(way: Way) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("room.1")
            var events = chat.subscription(channels: ["room.1"]).makeAsyncIterator()
            await events.open()
            try await channel.fire(["silent": true])
            try await channel.publish("loud", meta: ["lang": "en"], customMessageType: "greeting")
            let event = try #require(await events.next())
            #expect(AnyJSON(event.data) == "loud")
            #expect(event.customType == "greeting")
            #expect(event.meta.map { AnyJSON($0) } == ["lang": "en"])
        }
    }

    @Test("hears everything in order when far more comes than it may keep waiting", arguments: Way.allCases)
    func flood(way: Way) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("busy")
            var events = chat.subscription(channels: ["busy"]).makeAsyncIterator()
            await events.open()
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
}
