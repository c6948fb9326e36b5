import ChatKit
import ChatRemote
import TestSupport
import Testing

@Suite("A sequence of live events", .timeLimit(.minutes(5))) struct OpeningTests {
    @Test(
        "connects when its iterator is made, and keeps events for the first step", arguments: MatchStrategy.allCases
    )
    func kept(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let channel = chat.channel("a")
            var events = chat.subscription(channels: ["a"]).makeAsyncIterator()
            try await events.open()
            try await channel.publish(1)
            try await events.open()
            try await channel.publish(2)
            try await events.open()
            #expect(AnyJSON(try #require(await events.next()).data) == 1)
            #expect(AnyJSON(try #require(await events.next()).data) == 2)
        }
    }

    @Test("reports why it cannot be opened, and for which listener", arguments: MatchStrategy.allCases)
    func failing(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let events = chat.subscription(channels: ["a"], filter: "data.amount >").makeAsyncIterator()
            let error = await #expect(throws: ChatError.self) { try await events.open() }
            #expect(error?.code == .malformed)
            #expect(error?.listener == "channels a; filter data.amount >")
            let listener = chat.subscription(channels: ["a"], filter: "data.amount >")
            listener.subscribe()
            await #expect(throws: ChatError.self) { try await listener.ready() }
        }
    }

    @Test("is awaited within a limit, and no longer than the task lives")
    func limited() async throws {
        let (latch, asked) = (Latch(), Observed(0))
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/v1/stream") else { return .status(200, #"{"id":"ana"}"#) }
            asked.increment()
            return .held(latch, then: .close)
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let listener = chat.channel("a").onMessageReceived { _ in }
        let late = await #expect(throws: ChatError.self) { try await listener.ready(within: .zero) }
        #expect(late?.slug == "not_connected")
        await asked.wait { $0 >= 1 }
        let waiting = Task { try await listener.ready() }
        waiting.cancel()
        let cancelled = await #expect(throws: ChatError.self) { try await waiting.value }
        #expect(cancelled?.code == .gone)
        listener.close()
        await #expect(throws: ChatError.self) { try await listener.ready() }
        latch.open()
        await chat.close()
    }

    @Test("continues after a 408 or 404 of the gateway or a proxy")
    func passing() async throws {
        let ready =
            #"{"event":"stream.ready","data":{"stream":"str_1","cursor":"17324123456789000","heartbeat_seconds":15}}"#
        let streams = Observed(0)
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/v1/stream") else { return .status(200, #"{"id":"ana"}"#) }
            switch streams.next() {
            case 1: return .status(408, "")
            case 2: return .status(404, "<html>no route</html>")
            default: return .stream([ready + "\n"], isHeld: true)
            }
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let heard = Heard<String>()
        let watch = chat.onConnectionStateChange { state in
            heard(state.word)
            if case .reconnecting(let error) = state {
                heard("\(error.listener ?? "-"): \(error.request?.method ?? "-") \(error.request?.path ?? "-")")
            }
        }
        let listener = chat.channel("a").onMessageReceived { _ in }
        try await listener.ready()
        #expect(
            await heard.next(3) == ["reconnecting", "channels a; types message.created: GET /v1/stream", "connected"])
        watch.close()
        await chat.close()
    }

    @Test("ends when the gateway asks to wait for hours, and reports until when")
    func retryAfter() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/v1/stream") else { return .status(200, #"{"id":"ana"}"#) }
            return .status(
                429, #"{"title":"Too many","detail":"the quota of today is used up","code":"quota"}"#,
                headers: [("Retry-After", "86400")])
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let events = chat.subscription(channels: ["a"]).makeAsyncIterator()
        let error = await #expect(throws: ChatError.self) { try await events.open() }
        #expect(error?.code == .tooMany)
        #expect(error?.retryAfter == .seconds(86400))
        await chat.close()
    }
}

@Suite("A request to a gateway") struct RequestTests {
    @Test("that may be repeated only after hours fails at once, and reports when")
    func retryAfter() async throws {
        let server = try ScriptedServer { request in
            guard request.method == "POST" else { return .status(200, #"{"id":"ana"}"#) }
            return .status(
                429, #"{"title":"Too many","detail":"the quota of today is used up","code":"quota"}"#,
                headers: [("Retry-After", "86400")])
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        let error = await #expect(throws: ChatError.self) { try await chat.channel("a").sendText("hello") }
        #expect(error?.code == .tooMany)
        #expect(error?.retryAfter == .seconds(86400))
        #expect(error?.message.contains("86400 seconds") == true)
        let sent = server.requests.value.filter { $0.method == "POST" }
        #expect(sent.count == 1)
        #expect(error?.request?.method == "POST")
        #expect(error?.request?.path == "/v1/channels/a/messages")
        #expect(error?.request?.id == sent.first?["X-Request-Id"])
        await chat.close()
    }

    @Test("is repeated after a 408 and after a proxy's 404, which does not mean a missing record")
    func passing() async throws {
        let server = try ScriptedServer { request in
            guard request.target == "/v1/users/ben" else { return .status(200, #"{"id":"ana"}"#) }
            switch request.number {
            case 1: return .status(408, "")
            case 2: return .status(404, "<html>no route</html>")
            default: return .status(200, #"{"id":"ben"}"#)
            }
        }
        let chat = try await Chat(url: server.baseURL, key: "dev", user: "ana")
        #expect(try await chat.getUser(userId: "ben")?.id == "ben")
        #expect(server.requests.value.count == 4)
        await chat.close()
    }
}

@Suite("A chat with tokens") struct TokenTests {
    @Test("requests one token for all requests that the gateway refuses")
    func once() async throws {
        let asked = Observed(0)
        let server = try ScriptedServer { request in
            request["Authorization"] == "Bearer token-1"
                ? .status(401, #"{"title":"Unauthorized","code":"token_expired"}"#) : .status(200, #"{"id":"ana"}"#)
        }
        let backend = try GatewayBackend(url: server.baseURL, user: "ana") { "token-\(asked.next())" }
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { try await backend.user("ana") } }
            for try await user in group { #expect(user?.id == "ana") }
        }
        #expect(asked.value == 2)
        await backend.close()
    }

    @Test("requests a token before the last one expires")
    func early() async throws {
        let clock = ManualClock()
        let asked = Observed(0)
        let server = try ScriptedServer { _ in .status(200, #"{"id":"ana"}"#) }
        // Claims: {"exp":1732416000}. The clock starts 3,655 seconds before.
        let backend = try GatewayBackend(
            url: server.baseURL, user: "ana", clock: WallClock { Timetoken(clock.ticks) },
            token: { "e30.eyJleHAiOjE3MzI0MTYwMDB9.\(asked.next())" })
        for expected in [1, 1] {
            _ = try await backend.user("ana")
            #expect(asked.value == expected)
        }
        clock.advance(by: .seconds(3600))
        _ = try await backend.user("ana")
        #expect(asked.value == 1)
        clock.advance(by: .seconds(30))
        _ = try await backend.user("ana")
        #expect(asked.value == 2)
        await backend.close()
    }

    @Test("fails when there is no other token")
    func same() async throws {
        let asked = Observed(0)
        let server = try ScriptedServer { _ in .status(401, #"{"title":"Unauthorized","code":"token_expired"}"#) }
        let backend = try GatewayBackend(url: server.baseURL, user: "ana") {
            asked.increment()
            return "always the same"
        }
        let error = await #expect(throws: ChatError.self) { try await backend.user("ana") }
        #expect(error?.code == .unauthorized)
        #expect(asked.value == 2)
        await backend.close()
    }

    @Test("resumes a stream that ended with its token, where it was, with the next token")
    func stream() async throws {
        let asked = Observed(0)
        let server = try ScriptedServer.perConnection { connection in
            guard let request = connection.readRequest() else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n")
            let start = request.target.contains("cursor=") ? "17324123456789020" : "17324123456789000"
            connection.write(
                #"{"event":"stream.ready","data":{"stream":"str_1","cursor":"\#(start)","heartbeat_seconds":15}}"#
                    + "\n")
            guard request["Authorization"] == "Bearer token-1" else { return connection.waitForEnd() }
            connection.write(
                #"{"id":"evt_17324123456789020","type":"order.paid","kind":"message","timestamp":"t","#
                    + #""timetoken":"17324123456789020","channel":"a","data":{}}"# + "\n"
                    + #"{"event":"stream.closing","data":{"reason":"unauthorized","final":true}}"# + "\n")
        }
        let backend = try GatewayBackend(url: server.baseURL, user: "ana") { "token-\(asked.next())" }
        let following = Task {
            for try await _ in backend.events(EventSelection(channels: ["a"])) {}
        }
        let requests = await server.requests.wait(count: 2)
        #expect(requests.last?.target.contains("cursor=17324123456789020") == true)
        #expect(requests.last?["Authorization"] == "Bearer token-2")
        following.cancel()
        await backend.close()
    }
}

extension Observed<Int> {
    /// Increments the counter and returns it.
    fileprivate func next() -> Int {
        update { value in
            value += 1
            return value
        }
    }
}
