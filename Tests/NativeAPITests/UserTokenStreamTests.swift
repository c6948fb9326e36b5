import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import ChatCore
@testable import NativeAPI

extension StreamHarness {
    /// Requests a user token as an app's server does.
    func userToken(
        _ user: String = "cora", channels: String = #"["room.*"]"#, scopes: String = #"["read","emit"]"#,
        seconds: Int = 3600, by key: String = "dev"
    ) async throws -> String {
        let body = #"{"user":"\#(user)","channels":\#(channels),"scopes":\#(scopes),"expires_in_seconds":\#(seconds)}"#
        let answer = try await call("POST", "/v1/tokens", body, as: key)
        return try #require(answer.json?["token"]?.string)
    }

    /// Sends all requests and expects success.
    func done(_ calls: (method: String, target: String, body: String)...) async throws {
        for (method, target, body) in calls {
            let answer = try await call(method, target, body)
            #expect(
                (200..<300).contains(answer.status),
                "\(method) \(target): \(String(decoding: answer.body, as: UTF8.self))")
        }
    }

    /// Produces events about cora: she is invited to a group, joins, gets a message, is mentioned and muted.
    fileprivate func befall() async throws {
        try await done(
            ("POST", "/v1/channels", #"{"id":"room.a","kind":"group","users":["dan"]}"#),
            ("POST", "/v1/channels/room.a/invites", #"{"users":["cora"],"by":"dan"}"#),
            ("POST", "/v1/channels/room.a/invites/cora/accept", #"{"by":"cora"}"#),
            ("POST", "/v1/channels/room.a/messages", #"{"text":"hi","user":"dan","mentions":["cora"]}"#),
            ("PUT", "/v1/channels/room.a/restrictions/cora", #"{"mute":true}"#))
    }
}

/// The documented case: a token whose channels are `room.*`.
@Suite("A user's token with a pattern", .timeLimit(.minutes(2))) struct UserTokenStreamTests {
    private static let meant: Set<String> = [
        "connection.opened", "member.invited", "member.joined", "message.created", "user.mentioned",
        "unread_count.updated", "user.muted",
    ]

    @Test("receives all events for its user, by a stream")
    func stream() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("user=cora&device=phone", as: gateway.userToken())
            let (laptop, _, _) = try await gateway.openReady("user=cora&device=laptop")
            try await gateway.befall()
            laptop.close()
            var rest = Self.meant
            while !rest.isEmpty, let event = await reader.next() { rest.remove(event.type) }
            #expect(rest == [])
        }
    }

    @Test("receives all events for its user, by polls")
    func poll() async throws {
        try await StreamHarness.run { gateway in
            let token = try await gateway.userToken()
            var cursor = try await gateway.call("GET", "/v1/poll?user=cora", as: token).json?["cursor"]?.string ?? ""
            try await gateway.openReady("user=cora&device=laptop").reader.close()
            await gateway.until { $0.roll.count == 0 }
            try await gateway.befall()
            var rest = Self.meant
            while !rest.isEmpty {
                let answer = try await gateway.call("GET", "/v1/poll?user=cora&cursor=\(cursor)", as: token)
                try #require(answer.status == 200)
                for event in answer.json?["data"]?.elements ?? [] { rest.remove(event["type"]?.string ?? "") }
                cursor = answer.json?["cursor"]?.string ?? ""
            }
            await gateway.tick(160)
            #expect(await gateway.streams.holds { $0.pollWatches.isEmpty })
        }
    }

    @Test("gets tickets whose streams receive all events for the user")
    func ticket() async throws {
        try await StreamHarness.run { gateway in
            let made = try await gateway.call("POST", "/v1/stream-tickets", "{}", as: gateway.userToken())
            let ticket = try #require(made.json?["ticket"]?.string)
            let (reader, _, _) = try await gateway.openReady("ticket=\(ticket)&user=cora", as: nil)
            try await gateway.befall()
            var rest = Self.meant.subtracting(["connection.opened"])
            while !rest.isEmpty, let event = await reader.next() { rest.remove(event.type) }
            #expect(rest == [])
        }
    }

    @Test("reads its user's own channel, emits nothing there, and reads no other channel beside its pattern")
    func ownChannel() async throws {
        try await StreamHarness.run { gateway in
            let token = try await gateway.userToken()
            try await gateway.emit("cora", 1)
            for (target, status) in [
                ("/v1/channels/cora/events", 200), ("/v1/channels/dan/events", 403),
                ("/v1/channels/cora/presence", 200),
                ("/v1/poll?channel=cora", 200), ("/v1/poll?channel=cora&channel=room.a&user=cora", 200),
                ("/v1/poll?channel=dan", 403), ("/v1/poll?channel=cora.x", 403), ("/v1/poll?channel=*", 403),
            ] {
                #expect(try await gateway.call("GET", target, as: token).status == status, "\(target)")
            }
            for (channel, status) in [("room.a", 201), ("cora", 403)] {
                let answer = try await gateway.call(
                    "POST", "/v1/channels/\(channel)/messages", #"{"text":"hi"}"#, as: token)
                #expect(answer.status == status)
            }
            let (reader, id, _) = try await gateway.openReady("channel=room.a&user=cora", as: token)
            for (channels, status) in [(#"["cora","room.b"]"#, 200), (#"["dan"]"#, 403)] {
                let body = #"{"channels":\#(channels)}"#
                #expect(try await gateway.call("PATCH", "/v1/streams/\(id)", body, as: token).status == status)
            }
            reader.close()
        }
    }

    @Test("reads its user's own channel only if its key does: making tokens grants no more reading")
    func narrowedKey() async throws {
        try await StreamHarness.run { gateway in
            for (patterns, status) in [([NamePattern.below("room.")], 403), ([.below("room."), .exact("cora")], 200)] {
                let key = try await gateway.key([.read, .emit], channels: patterns)
                let token = try await gateway.userToken(by: key.text)
                let events = try await gateway.call("GET", "/v1/channels/cora/events", as: token)
                #expect(events.status == status)
                #expect(try await gateway.call("GET", "/v1/poll?channel=cora&user=cora", as: token).status == status)
                #expect(try await gateway.call("GET", "/v1/poll?user=cora", as: token).status == 200)
            }
        }
    }

    @Test("shares its stream with other users where it names none, and hears what is for everybody")
    func shared() async throws {
        try await StreamHarness.run { gateway in
            var readers: [EventStreamReader] = []
            for user in ["cora", "dan", "eve"] {
                readers.append(try await gateway.openReady("", as: gateway.userToken(user)).reader)
            }
            #expect(await gateway.streams.holds { $0.feedCount == 1 })
            try await gateway.end(["cora"])
            try await gateway.emit("cora", 1)
            try await gateway.emit("room.a", 2)
            for reader in readers { #expect(await reader.numbers(1) == [2]) }
        }
    }
}

@Suite("A user's token that follows a group", .timeLimit(.minutes(2))) struct UserTokenGroupTests {
    private static let reports = ChatAccess.moderationChannel(of: "room.p")
    /// Channels that cora cannot read by their names: a private one, one that bans her, the reports of a channel with
    /// other operators, and one outside her token's channels.
    private static let closed = ["room.p", "room.b", reports, "other"]

    private func prepare(_ gateway: StreamHarness) async throws {
        try await gateway.channel("room.p", .group)
        try await gateway.ban("cora", in: "room.b")
    }

    private func token(_ gateway: StreamHarness) async throws -> String {
        try await gateway.userToken(channels: "[\"room.*\",\"\(Self.reports)\"]")
    }

    private func say(_ n: Int, in channels: [String], _ gateway: StreamHarness) async throws {
        for channel in channels { try await gateway.tell(channel, n, for: .subscribers) }
    }

    private func group(_ channels: [String], _ gateway: StreamHarness) async throws {
        let names = channels.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try await gateway.call("PUT", "/v1/channel-groups/g", #"{"channels":[\#(names)]}"#)
        #expect((200..<300).contains(answer.status))
    }

    @Test("receives the group's channels within its reach, and keeps its stream when another one is added")
    func stream() async throws {
        try await StreamHarness.run { gateway in
            try await prepare(gateway)
            try await group(["room.a"] + Self.closed, gateway)
            let token = try await token(gateway)
            let (reader, _, _) = try await gateway.openReady("group=g", as: token)
            let (device, _, _) = try await gateway.openReady("group=g&user=cora", as: token)
            try await say(1, in: Self.closed, gateway)
            try await gateway.emit("room.a", 2)
            #expect(await reader.numbers(1) == [2])
            #expect(await device.numbers(1) == [2])
            try await gateway.channel("room.q", .group)
            try await group(["room.c", "room.q"] + Self.closed, gateway)
            #expect(await reader.next()?.json?["channels"]?.strings == ["room.c"])
            #expect(await device.next()?.type == "stream.changed")
            try await say(3, in: Self.closed + ["room.q", "room.a"], gateway)
            try await gateway.emit("room.c", 4)
            #expect(await reader.numbers(1) == [4])
            #expect(await device.numbers(1) == [4])
        }
    }

    @Test("is open without events when no channel of the group is within reach, and receives added ones")
    func quiet() async throws {
        try await StreamHarness.run { gateway in
            try await prepare(gateway)
            try await group(Self.closed, gateway)
            let token = try await token(gateway)
            let (reader, _, _) = try await gateway.openReady("group=g", as: token)
            try await say(1, in: Self.closed, gateway)
            try await group(Self.closed + ["room.a"], gateway)
            #expect(await reader.next()?.type == "stream.changed")
            try await gateway.emit("room.a", 2)
            #expect(await reader.numbers(1) == [2])
            for name in Self.closed {
                #expect(try await gateway.open("group=g&channel=\(name)", as: token).status == 403, "\(name)")
            }
        }
    }

    @Test("is a poll as well")
    func poll() async throws {
        try await StreamHarness.run { gateway in
            try await prepare(gateway)
            try await group(["room.a"] + Self.closed, gateway)
            let token = try await token(gateway)
            let target = "/v1/poll?group=g"
            for listener in ["", "&user=cora"] {
                let start = try await gateway.call("GET", target + listener, as: token).json?["cursor"]?.string ?? ""
                try await say(1, in: Self.closed, gateway)
                try await gateway.emit("room.a", 2)
                let answer = try await gateway.call("GET", "\(target)\(listener)&cursor=\(start)", as: token)
                #expect(answer.json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer } == [2])
            }
            for name in Self.closed {
                #expect(try await gateway.call("GET", "\(target)&channel=\(name)", as: token).status == 403, "\(name)")
            }
        }
    }

    @Test("receives a channel of the group that the user joins later")
    func joining() async throws {
        try await StreamHarness.run { gateway in
            try await group(["room.p"], gateway)
            try await gateway.done(("POST", "/v1/channels", #"{"id":"room.p","kind":"group","users":["dan"]}"#))
            let (device, _, _) = try await gateway.openReady("group=g&user=cora", as: gateway.userToken())
            try await gateway.emit("room.p", 1)
            try await gateway.done(("PUT", "/v1/channels/room.p/members/cora", "{}"))
            try await gateway.emit("room.p", 2)
            #expect(await device.numbers(1) == [2])
        }
    }
}
