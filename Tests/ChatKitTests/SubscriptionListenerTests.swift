import ChatKit
import ChatRemote
import TestSupport
import Testing

@Suite("A subscription listener", .timeLimit(.minutes(2))) struct SubscriptionListenerTests {
    @Test("receives the events of its subscription until it is cancelled", arguments: MatchStrategy.allCases)
    func listener(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let listener = SubscriptionListener()
            listener.didReceiveMessage = { heard("message \($0.payload.text)") }
            listener.didReceiveSignal = { heard("signal \($0.payload.text)") }
            listener.didReceiveMessageAction = { heard("action on \($0.messageTimetoken)") }
            listener.didReceiveObjectMetadataEvent = { heard("record \($0.event.type)") }
            listener.didReceivePresence = { heard("presence \($0.occupancy)") }
            listener.didReceiveSubscriptionChange = { heard("\($0)") }
            let subscription = chat.channel("a").subscription(presence: true)
            subscription.add(listener)
            subscription.subscribe()
            #expect(await heard.next() == [#"subscribed(channels: ["a"], groups: [])"#])
            try await subscription.ready()
            let timetoken = try await chat.channel("a").publish(1)
            try await chat.channel("a").signal(2)
            #expect(await heard.next(2) == ["message 1", "signal 2"])
            try await chat.channel("a").getMessage(timetoken: timetoken)?.toggleReaction("x")
            #expect(await heard.next() == ["action on \(timetoken)"])
            _ = try await chat.createChannel(id: "a")
            #expect(await heard.next(2) == ["record channel.created", "record member.joined"])
            try await chat.channel("a").appear()
            #expect(await heard.next() == ["presence 1"])
            let batches = Heard<Int>()
            listener.didReceiveBatchSubscription = { batches($0.count) }
            try await chat.channel("a").publish(3)
            #expect(await heard.next() == ["message 3"])
            #expect(await batches.next() == [1])
            let other = Heard<String>()
            subscription.onMessage = { other("\($0.payload.text)") }
            listener.cancel()
            try await chat.channel("a").publish(4)
            #expect(await other.next() == ["4"])
            subscription.unsubscribe()
            heard("end")
            #expect(await heard.next() == ["end"])
        }
    }

    @Test("is told when the channels of a group change", arguments: MatchStrategy.allCases)
    func groupChange(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let news = chat.channelGroup("news")
            try await news.addChannels([chat.channel("sport")])
            let heard = Heard<SubscriptionChange>()
            let subscription = news.subscription()
            subscription.onSubscriptionChange = { heard($0) }
            subscription.subscribe()
            try await subscription.ready()
            try await news.addChannels([chat.channel("weather")])
            #expect(
                await heard.next(2) == [
                    .subscribed(channels: [], groups: ["news"]), .channelsChanged(["sport", "weather"]),
                ])
        }
    }

    @Test("is told why its subscription fails", arguments: MatchStrategy.allCases)
    func failing(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let listener = SubscriptionListener()
            listener.subscribeError = { heard("listener \($0.code)") }
            let subscription = chat.channel("a").subscription(filter: "data.amount >")
            subscription.onError = { heard("subscription \($0.code) \($0.listener ?? "-")") }
            subscription.add(listener)
            subscription.subscribe()
            #expect(
                Set(await heard.next(2)) == [
                    "subscription malformed channels a; filter data.amount >", "listener malformed",
                ])
            await #expect(throws: ChatError.self) { try await subscription.ready() }
        }
    }

    @Test("of the chat receives the channels that the chat names, with their filter", arguments: MatchStrategy.allCases)
    func named(way: MatchStrategy) async throws {
        let scene: any Scene = OlderCalls()
        try await way.withChat { chat in try await scene.play(chat) }
    }

    @Test("ends with its subscriptions, and so do the closures of channels", arguments: MatchStrategy.allCases)
    func unsubscribeAll(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let listener = chat.channel("a").onMessageReceived { heard($0.text) }
            try await listener.ready()
            chat.unsubscribeAll()
            let again = chat.channel("a").onMessageReceived { heard("again \($0.text)") }
            try await again.ready()
            try await chat.channel("a").sendText("x")
            #expect(await heard.next() == ["again x"])
            again.close()
        }
    }
}

private protocol Scene: Sendable {
    func play(_ chat: Chat) async throws
}

/// Calls the deprecated methods as a witness of a protocol, so that the call does not warn.
private struct OlderCalls: Scene {
    @available(*, deprecated, message: "tests deprecated calls")
    func play(_ chat: Chat) async throws {
        let heard = Heard<String>()
        let listener = SubscriptionListener()
        listener.didReceiveMessage = { heard("\($0.channel.name) \($0.payload.text)") }
        listener.didReceivePresence = { heard("\($0.channelId) has \($0.occupancy)") }
        chat.add(listener)
        chat.subscribe(to: ["a", "b"], withPresence: true, filterOverride: "data.n > 1")
        try await chat.ready()
        for number in [1, 2] { try await chat.channel("a").publish(["n": number]) }
        #expect(await heard.next() == [#"a {"n":2}"#])
        chat.subscribe(to: ["c"], filterOverride: "data.n < 0 || type == 'presence.joined'")
        try await chat.ready()
        for number in [3, -3] { try await chat.channel("b").publish(["n": number]) }
        #expect(await heard.next() == [#"b {"n":-3}"#])
        try await chat.channel("b").appear()
        #expect(await heard.next() == ["b has 1"])
        chat.unsubscribe(from: ["b"], presenceOnly: true)
        try await chat.acting(as: "ben").channel("b").appear()
        try await chat.channel("b").publish(["n": -4])
        #expect(await heard.next() == [#"b {"n":-4}"#])
        chat.unsubscribe(from: ["b"])
        try await chat.channel("b").publish(["n": -5])
        try await chat.channel("c").publish(["n": -6])
        #expect(await heard.next() == [#"c {"n":-6}"#])
        chat.unsubscribeAll()
        chat.subscribe(to: ["c"])
        try await chat.ready()
        try await chat.channel("c").publish(["n": -7])
        #expect(await heard.next() == [#"c {"n":-7}"#])
    }
}

@Suite("The options of requests and connections", .timeLimit(.minutes(2))) struct RequestOptionsTests {
    @Test("bound the attempts and the time of one publish")
    func publish() async throws {
        let (latch, asked) = (Latch(), Observed(0))
        let server = try ScriptedServer { request in
            guard request.method == "POST" else { return .status(200, #"{"id":"ana"}"#) }
            asked.increment()
            return request.target.contains("slow") ? .held(latch, then: .close) : .status(503, "")
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let busy = chat.channel("busy")
        await #expect(throws: ChatError.self) { try await busy.publish(1, options: RequestOptions(retries: 0)) }
        #expect(asked.value == 1)
        await #expect(throws: ChatError.self) { try await busy.signal(1, options: RequestOptions(retries: 1)) }
        #expect(asked.value == 3)
        let brief = RequestOptions(timeout: .milliseconds(50), retries: 0)
        await #expect(throws: ChatError.self) { try await chat.channel("slow").fire(1, options: brief) }
        let wrong = await #expect(throws: ChatError.self) {
            try await busy.publish(1, options: RequestOptions(timeout: .zero))
        }
        #expect(wrong?.code == .malformed)
        #expect(asked.value == 4)
        latch.open()
        await chat.close()
    }

    @Test("compress the body of one publish")
    func compression() async throws {
        let bodies = Observed<[String]>([])
        let server = try ScriptedServer { request in
            guard request.method == "POST" else { return .status(200, #"{"id":"ana"}"#) }
            let isGzip = request["content-encoding"] == "gzip" && request.body.starts(with: [0x1F, 0x8B])
            bodies.update { $0.append("\(isGzip) \(request.body.count < 1000)") }
            return .status(201, #"{"timetoken":"17957317744856000"}"#)
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let room = chat.channel("room")
        let long = String(repeating: "tea ", count: 1000)
        let compressed = RequestOptions(isCompressed: true)
        try await room.publish(long, options: compressed)
        try await room.publish(long)
        // Bytes that do not become fewer are sent as they are.
        try await room.publish(1, options: compressed)
        #expect(bodies.value == ["true true", "false false", "false true"])
        await chat.close()
    }

    @Test("limit how often a listener reconnects")
    func retryPolicy() async throws {
        let streams = Observed(0)
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/v1/stream") else { return .status(200, #"{"id":"ana"}"#) }
            streams.increment()
            return .status(503, "")
        }
        let chat = try await Chat(
            url: server.baseURL, key: "dev", user: "ana", retry: RetryPolicy(.linear(.milliseconds(1)), limit: 3))
        let subscription = chat.channel("a").subscription()
        subscription.subscribe()
        let error = await #expect(throws: ChatError.self) { try await subscription.ready() }
        #expect(error?.code == .unavailable)
        #expect(streams.value == 4)
        await chat.close()
    }

    @Test("order and bound lists of records by the time of creation", arguments: MatchStrategy.allCases)
    func lists(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            var times: [Timetoken] = []
            for id in ["u1", "u2", "u3"] {
                _ = try await chat.createUser(id: id)
                times.append(try await chat.channel("clock").publish(0))
            }
            #expect(try await chat.getUsers(order: .descending).users.map(\.id) == ["u3", "u2", "u1", "ana"])
            #expect(try await chat.getUsers(after: times[0], before: times[1]).users.map(\.id) == ["u2"])
            _ = try await chat.createChannel(id: "late")
            #expect(try await chat.getChannels(after: times[2]).channels.map(\.id) == ["late"])
            let members = try await chat.channel("late").getMembers(order: .descending, before: times[0])
            #expect(members.members.isEmpty)
            #expect(try await chat.currentUser.getMemberships(after: times[2]).memberships.count <= 1)
        }
    }
}
