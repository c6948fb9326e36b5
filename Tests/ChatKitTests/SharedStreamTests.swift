import ChatKit
import ChatRemote
import HTTPClient
import JSON
import TestSupport
import Testing

/// Sends operator requests to a gateway without the library.
struct Operator {
    let url: String

    func call(_ method: String, _ path: String, _ body: AnyJSON? = nil) async throws -> AnyJSON {
        let client = try Client(options: ClientOptions(addressGuard: .disabled))
        let answer = await client.send(
            OutboundRequest(
                method: method, url: url + path,
                headers: [("Authorization", "Bearer dev"), ("Content-Type", "application/json")],
                body: body?.text.bytes ?? []))
        await client.shutdown()
        let status = try #require(answer.status)
        try #require((200..<300).contains(status), "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        return AnyJSON(JSONText(trusted: answer.body))
    }

    func streamCount() async throws -> Int {
        guard case .array(let streams) = try await call("GET", "/v1/streams?limit=250")["data"] else { return 0 }
        return streams.count
    }

    func token(of user: String, channels: [String]? = nil) async throws -> String {
        var wanted: [String: AnyJSON] = ["user": .string(user), "scopes": ["read", "emit"]]
        if let channels { wanted["channels"] = .array(channels.map { .string($0) }) }
        return try #require(try await call("POST", "/v1/tokens", .object(wanted))["token"]?.string)
    }
}

@Suite("The listeners of a chat on a gateway", .timeLimit(.minutes(5))) struct SharedStreamTests {
    private func withChat(_ body: @escaping @Sendable (Chat, Operator) async throws -> Void) async throws {
        try await withGateway { url in
            let chat = try await Chat(url: url, key: "dev", user: "ana")
            do { try await body(chat, Operator(url: url)) } catch {
                await chat.close()
                throw error
            }
            await chat.close()
        }
    }

    @Test("share one stream, which follows the selections of each while it is open")
    func shared() async throws {
        try await withChat { chat, gateway in
            let heard = Heard<String>()
            let first = chat.channel("a").onMessageReceived { heard("first \($0.text)") }
            try await first.ready()
            let second = chat.channel("b").onMessageReceived { heard("second \($0.text)") }
            let custom = chat.channel("b").onCustomEvent(messageType: "t") { heard("custom \($0.type ?? "-")") }
            for listener in [second, custom] { try await listener.ready() }
            #expect(try await gateway.streamCount() == 1)
            try await chat.channel("b").sendText("for b")
            #expect(await heard.next() == ["second for b"])
            try await chat.channel("b").emitCustomEvent(payload: [:], messageType: "t")
            #expect(await heard.next() == ["custom t"])
            try await chat.channel("a").sendText("for a")
            #expect(await heard.next() == ["first for a"])
            for listener in [first, second, custom] { listener.close() }
            try await waitUntil { try await gateway.streamCount() == 0 }
        }
    }

    @Test("do not delay requests: with a thousand open, a message is sent and received")
    func thousand() async throws {
        try await withChat { chat, gateway in
            let heard = Heard<String>()
            let listeners = (0..<1000).map { number in
                chat.channel("room.\(number)").onMessageReceived { heard("\(number) \($0.text)") }
            }
            for listener in listeners { try await listener.ready() }
            // One stream is shared by as many names as fit into a URL of 6 KiB.
            #expect(try await gateway.streamCount() == 3)
            try await chat.channel("room.999").sendText("hello")
            #expect(await heard.next() == ["999 hello"])
            for listener in listeners { listener.close() }
        }
    }

    @Test("catch up separately when they begin earlier, and join the shared stream without loss or repeat")
    func merged() async throws {
        try await withChat { chat, gateway in
            let channel = chat.channel("busy")
            let start = try await channel.publish(0)
            for number in 1...300 { try await channel.publish(number) }
            var live = chat.subscription(channels: ["busy"]).makeAsyncIterator()
            try await live.open()
            let publishing = Task { for number in 301...600 { try await channel.publish(number) } }
            var early = chat.subscription(channels: ["busy"], since: start).makeAsyncIterator()
            for number in 1...600 {
                #expect(AnyJSON(try #require(await early.next()).data) == .integer(Int64(number)))
            }
            for number in 301...600 {
                #expect(AnyJSON(try #require(await live.next()).data) == .integer(Int64(number)))
            }
            try await publishing.value
            try await waitUntil { try await gateway.streamCount() == 1 }
        }
    }

    @Test("that have nothing to catch up with join the shared stream")
    func mergedAtOnce() async throws {
        try await withChat { chat, gateway in
            let start = try await chat.channel("a").publish(0)
            var events = chat.subscription(channels: ["a"], since: start).makeAsyncIterator()
            try await events.open()
            try await waitUntil { try await gateway.streamCount() == 1 }
            try await chat.channel("a").publish(1)
            #expect(AnyJSON(try #require(await events.next()).data) == 1)
        }
    }

    @Test("end alone when the gateway refuses their selection")
    func refused() async throws {
        try await withGateway { url in
            let gateway = Operator(url: url)
            let token = try await gateway.token(of: "ana", channels: ["room.*"])
            let chat = try await Chat(url: url, key: token, user: "ana")
            let allowed = chat.channel("room.1").stream.messageReceived()
            var events = allowed.makeAsyncIterator()
            try await events.open()
            let refused = chat.channel("secret.1").stream.messageReceived().makeAsyncIterator()
            let error = await #expect(throws: ChatError.self) { try await refused.open() }
            #expect(error?.code == .forbidden)
            #expect(error?.listener == "channels secret.1; types message.created")
            #expect(error?.message.contains("channels secret.1") == true)
            #expect(error?.request?.path == "/v1/stream")
            // Both are requested at the same time: the gateway refuses the pair, and one of them alone.
            let both = [chat.channel("secret.2"), chat.channel("room.2")].map {
                $0.stream.messageReceived().makeAsyncIterator()
            }
            await #expect(throws: ChatError.self) { try await both[0].open() }
            try await both[1].open()
            try await chat.channel("room.1").sendText("still here")
            #expect(await events.next()?.text == "still here")
            await chat.close()
        }
    }

    @Test("end alone when their user may no longer read their channel")
    func leftOut() async throws {
        try await withGateway { url in
            let ana = try await Chat(url: url, key: "dev", user: "ana")
            let token = try await Operator(url: url).token(of: "ben")
            let ben = try await Chat(url: url, key: token, user: "ben")
            let crew = try await ana.createChannel(id: "crew", type: .group)
            try await crew.invite(ben.currentUser)
            try await ben.channel("crew").join()
            let failed = Heard<String>()
            let watch = ben.onConnectionStateChange { state in
                if case .failed(let error) = state { failed("\(error.code) \(error.listener ?? "-")") }
            }
            var room = ben.channel("room").stream.messageReceived().makeAsyncIterator()
            var members = ben.channel("crew").stream.messageReceived().makeAsyncIterator()
            try await room.open()
            try await members.open()
            try await crew.sendText("welcome")
            try await crew.getMembership(userId: "ben")?.delete()
            #expect(await members.next()?.text == "welcome")
            #expect(await members.next() == nil)
            #expect(await failed.next() == ["forbidden channels crew; types message.created"])
            try await ana.channel("room").sendText("still here")
            #expect(await room.next()?.text == "still here")
            watch.close()
            for chat in [ana, ben] { await chat.close() }
        }
    }

    @Test("receive their user's events with the user's own token")
    func personal() async throws {
        try await withGateway { url in
            let gateway = Operator(url: url)
            let ana = try await Chat(url: url, key: "dev", user: "ana")
            let ben = try await Chat(url: url, key: try await gateway.token(of: "ben"), user: "ben")
            let heard = Heard<String>()
            let listeners = [
                ben.currentUser.onInvited { heard("invited to \($0.channelId) by \($0.invitedByUserId)") },
                ben.currentUser.onMentioned { heard("mentioned in \($0.channelId)") },
                ben.currentUser.onRestrictionChanged { heard("muted \($0.mute) in \($0.channelId)") },
            ]
            for listener in listeners { try await listener.ready() }
            #expect(try await gateway.streamCount() == 1)
            let crew = try await ana.createChannel(id: "crew", type: .group)
            try await crew.invite(ben.currentUser)
            #expect(await heard.next() == ["invited to crew by ana"])
            try await ben.channel("crew").join()
            try await crew.sendText("hello", usersToMention: ["ben"])
            #expect(await heard.next() == ["mentioned in crew"])
            try await crew.setRestrictions(user: ben.currentUser, mute: true)
            #expect(await heard.next() == ["muted true in crew"])
            for chat in [ana, ben] { await chat.close() }
        }
    }

    @Test("continue with a new token when the old one is revoked, and lose nothing")
    func renewed() async throws {
        try await withGateway { url in
            let gateway = Operator(url: url)
            let asked = Observed(0)
            let chat = try await Chat(url: url, user: "ben") {
                asked.increment()
                return try await gateway.token(of: "ben")
            }
            var events = chat.channel("room").stream.messageReceived().makeAsyncIterator()
            try await events.open()
            #expect(asked.value == 1)
            let ana = try await Chat(url: url, key: "dev", user: "ana")
            try await ana.channel("room").sendText("one")
            _ = try await gateway.call("POST", "/v1/users/ben/revoke-tokens")
            try await ana.channel("room").sendText("two")
            #expect(await events.next()?.text == "one")
            #expect(await events.next()?.text == "two")
            try await chat.channel("room").sendText("three")
            #expect(await events.next()?.text == "three")
            #expect(asked.value == 2)
            for chat in [chat, ana] { await chat.close() }
        }
    }

    @Test("continue without loss when another ends because the next token does not cover it")
    func lessReach() async throws {
        try await withGateway { url in
            let gateway = Operator(url: url)
            let asked = Observed(0)
            let chat = try await Chat(url: url, user: "ben") {
                asked.increment()
                return try await gateway.token(of: "ben", channels: asked.value == 1 ? nil : ["room.*", "ben"])
            }
            let channels = ["room.1", "room.2", "other.1"].map { chat.channel($0) }
            var events = channels.map { $0.stream.messageReceived().makeAsyncIterator() }
            for iterator in events { try await iterator.open() }
            let ana = try await Chat(url: url, key: "dev", user: "ana")
            for channel in channels { try await ana.channel(channel.id).sendText("one") }
            for index in events.indices { #expect(await events[index].next()?.text == "one") }
            _ = try await gateway.call("POST", "/v1/users/ben/revoke-tokens")
            for channel in channels { try await ana.channel(channel.id).sendText("two") }
            #expect(await events[0].next()?.text == "two")
            #expect(await events[1].next()?.text == "two")
            while await events[2].next() != nil {}
            for channel in channels { try await ana.channel(channel.id).sendText("three") }
            #expect(await events[0].next()?.text == "three")
            #expect(await events[1].next()?.text == "three")
            for chat in [chat, ana] { await chat.close() }
        }
    }
}
