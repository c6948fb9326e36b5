import ChatModel
import LongPolling
import JSON
import Signing
import TestSupport
import Testing

@testable import ChatCore
@testable import NativeAPI

@Suite("A user's token ends its streams and polls", .timeLimit(.minutes(2))) struct UserTokenEndTests {
    private static let streams = ["channel=room.a", "", "user=cora", "user=cora&device=phone", "group=g"]

    /// The ways to hold a connection: streams as SSE and NDJSON, with a ticket, and held polls.
    private static let ways =
        streams.flatMap { ["stream \($0)", "lines \($0)", "poll \($0)"] } + ["ticket", "ticket user=cora"]

    /// Opens a connection of this kind and returns the task that reads its end.
    private func hold(_ way: String, _ token: String, _ gateway: StreamHarness) async throws -> Task<String, any Error>
    {
        let parts = way.split(separator: " ", maxSplits: 1).map(String.init)
        let query = parts.count > 1 ? parts[1] : ""
        if parts[0] == "poll" {
            let cursor = try await gateway.call("GET", "/v1/poll", as: token).json?["cursor"]?.string ?? ""
            // Selected by type, like a user's unread counts.
            let target = "/v1/poll?\(query)&type=message.*&cursor=\(cursor)"
            let poll = Task { try await gateway.call("GET", target, as: token) }
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            return Task { "\(try await poll.value.status)" }
        }
        var target = query
        if parts[0] == "ticket" {
            let made = try await gateway.call("POST", "/v1/stream-tickets", "{}", as: token)
            target += "&ticket=\(try #require(made.json?["ticket"]?.string))"
        }
        let reader = try await gateway.open(
            target, as: parts[0] == "ticket" ? nil : token, accept: parts[0] == "lines" ? "application/x-ndjson" : nil)
        try #require(reader.status == 200, "\(way)")
        await gateway.until { $0.roll.count == 1 }
        return Task { await reader.tail() }
    }

    private func isHeld(_ gateway: StreamHarness) async -> Bool {
        await gateway.streams.holds { streams in
            streams.roll.count + streams.polls.assumeIsolated { $0.count } == 1
        }
    }

    @Test("within a second of its exp, where it was made here", arguments: ways)
    func expiry(_ way: String) async throws {
        try await StreamHarness.run { gateway in
            try await gateway.done(("PUT", "/v1/channel-groups/g", #"{"channels":["room.a"]}"#))
            let token = try await gateway.userToken(seconds: 30)
            let end = try exp(of: token)
            let held = try await hold(way, token, gateway)
            gateway.clock.advance(by: time(to: end, gateway) - .nanoseconds(100))
            await gateway.tick()
            #expect(await isHeld(gateway))
            #expect(try await gateway.call("GET", "/v1/channels/room.a/events", as: token).status == 200)
            gateway.clock.advance(by: .nanoseconds(100))
            await gateway.tick()
            #expect(try await held.value.contains(way.hasPrefix("poll") ? "401" : "unauthorized"))
            let late = try await gateway.call("GET", "/v1/channels/room.a/events", as: token)
            #expect(late.json?["code"]?.string == "token_expired")
        }
    }

    @Test("within a second of a minute after its exp, where it was signed elsewhere", arguments: ways)
    func foreign(_ way: String) async throws {
        try await StreamHarness.run { gateway in
            try await gateway.done(("PUT", "/v1/channel-groups/g", #"{"channels":["room.a"]}"#))
            let end = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond + 30
            let claims = #"{"iss":"demo","sub":"cora","exp":\#(end),"channels":["room.*"]}"#
            let token = WebToken.text(claims: Array(claims.utf8), secret: Secret(text: "demo-secret"))
            let held = try await hold(way, token, gateway)
            let last = Timetoken((end + 60) * Timetoken.ticksPerSecond)
            gateway.clock.advance(by: time(to: last, gateway) - .nanoseconds(100))
            await gateway.tick()
            #expect(await isHeld(gateway))
            gateway.clock.advance(by: .nanoseconds(100))
            await gateway.tick()
            #expect(try await held.value.contains(way.hasPrefix("poll") ? "401" : "unauthorized"))
        }
    }

    @Test("at once when its user's tokens are revoked", arguments: ways)
    func revocation(_ way: String) async throws {
        try await StreamHarness.run { gateway in
            try await gateway.done(("PUT", "/v1/channel-groups/g", #"{"channels":["room.a"]}"#))
            let held = try await hold(way, try await gateway.userToken(), gateway)
            try await gateway.done(("POST", "/v1/users/cora/revoke-tokens", ""))
            #expect(try await held.value.contains(way.hasPrefix("poll") ? "401" : "unauthorized"))
        }
    }

    @Test("says its end as its claims do")
    func told() async throws {
        try await StreamHarness.run { gateway in
            let made = try await gateway.call("POST", "/v1/tokens", #"{"user":"cora","expires_in_seconds":30}"#)
            let token = try #require(made.json?["token"]?.string)
            #expect(made.json?["expires_at"]?.string == (try exp(of: token)).timestamp)
        }
    }

    private func time(to end: Timetoken, _ gateway: StreamHarness) -> Duration {
        .nanoseconds(100) * Int(end.rawValue - gateway.service.clock.now.rawValue)
    }

    private func exp(of token: String) throws -> Timetoken {
        let claims = try #require(WebToken(token)?.claims)
        let seconds = try #require(try JSONDocument(claims).root["exp"]?.integer)
        return Timetoken(UInt64(seconds) * Timetoken.ticksPerSecond)
    }
}

extension EventStreamReader {
    /// Everything that arrives until the end, unchanged.
    fileprivate func tail() async -> String {
        while await nextLine() != nil {}
        return String(decoding: rawBytes, as: UTF8.self)
    }
}
