import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

/// Tests with tokens that are signed directly with the app's secret, as a customer's own program would.
@Suite("Tokens of users") struct UserTokenTests {
    private static func token(
        _ claims: String, secret: String = "default-secret", header: String = #"{"alg":"HS256","typ":"JWT"}"#
    ) -> String {
        let signed = Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
        let code = MessageAuthentication.code(.sha256, of: Array(signed.utf8), key: Secret(text: secret))
        return signed + "." + Base64.encodeURL(code)
    }

    /// 2024-11-23 in seconds, the time of the fixture's clock.
    private static let now: UInt64 = 1_732_412_345
    private static let later = now + 3600

    private static func claims(_ more: String = "", user: String = "ana", exp: UInt64 = later) -> String {
        #"{"iss":"default","aud":"https://gw.example","sub":"\#(user)","exp":\#(exp)\#(more)}"#
    }

    @Test("speak for their user alone")
    func user() async throws {
        try await APIFixture.run { api in
            let token = Self.token(Self.claims(#","scope":"emit read""#))
            let own = await api.call(.post, "/v1/channels/a/messages", #"{"text":"hi"}"#, key: token)
            #expect(own.status == 201)
            #expect(await api.history("a").first?["user"]?.string == "ana")
            let other = await api.call(.post, "/v1/channels/a/messages", #"{"text":"hi","user":"bob"}"#, key: token)
            #expect(other.status == 403)
        }
    }

    @Test("only read when they name no scope")
    func defaultScope() async throws {
        try await APIFixture.run { api in
            let token = Self.token(Self.claims())
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).status == 200)
            #expect(await api.call(.post, "/v1/channels/a/messages", #"{"text":"hi"}"#, key: token).status == 403)
            #expect(await api.call(.get, "/v1/keys", key: token).status == 403)
        }
    }

    @Test("reach the channels and types they name")
    func patterns() async throws {
        try await APIFixture.run { api in
            let token = Self.token(Self.claims(#","scope":"emit","channels":["a.*"],"types":["order.*"]"#))
            for (channel, type, status) in [("a.b", "order.paid", 201), ("c", "order.paid", 403), ("a.b", "x", 403)] {
                let answer = await api.call(
                    .post, "/v1/channels/\(channel)/events", #"{"type":"\#(type)","data":{}}"#, key: token)
                #expect(answer.status == status, "\(channel) \(type)")
            }
        }
    }

    @Test("hold until a minute after their end, however often they were shown")
    func expiry() async throws {
        try await APIFixture.run { api in
            let token = Self.token(Self.claims())
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).status == 200)
            api.clock.advance(by: .seconds(3630))
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).status == 200)
            api.clock.advance(by: .seconds(31))
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).code == "token_expired")
        }
    }

    @Test(
        "that are not signed by the app are refused in the same words",
        arguments: [
            token(claims(), secret: "other"), token(claims(), header: #"{"alg":"none"}"#),
            token(claims(), header: #"{"alg":"RS256"}"#), token(claims(), header: #"{}"#),
            token(claims(), header: #"{"alg":"HS256","crit":["exp"]}"#), token(#"{"iss":"nobody","sub":"a","exp":1}"#),
            token(#"{"sub":"ana","exp":99999999999}"#), token(claims()).dropLast(2) + "AA", token("[]"), "a.b.c", "..",
        ])
    func forged(_ token: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/channels/a/events", key: token)
            #expect(answer.status == 401)
            #expect(answer.code == "credential_invalid")
        }
    }

    @Test(
        "that are signed but have wrong claims are refused with the reason",
        arguments: [
            (#"{"iss":"default","aud":"https://gw.example","exp":1732419999}"#, "sub"),
            (#"{"iss":"default","aud":"https://gw.example","sub":"ana"}"#, "exp"),
            (#"{"iss":"default","aud":"https://gw.example","sub":"ana","exp":"soon"}"#, "exp"),
            (claims(#","scope":"everything""#), "scope"), (claims(#","scope":"read admin""#), "scope"),
            (claims(#","scope":["read"]"#), "scope"),
            (claims(#","channels":[]"#), "channels"), (claims(#","channels":"a""#), "channels"),
            (claims(#","nbf":1732419999"#), "nbf"),
            (#"{"iss":"default","sub":"ana","exp":1732419999}"#, "aud"),
            (#"{"iss":"default","aud":["https://other.example"],"sub":"ana","exp":1732419999}"#, "aud"),
        ])
    func wrong(_ claims: String, _ name: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/channels/a/events", key: Self.token(claims))
            #expect(answer.status == 401)
            #expect(answer.code == "token_invalid")
            #expect(answer["detail"]?.string?.contains("'\(name)'") == true, "\(answer.text)")
        }
    }

    @Test("made here do no more than their key, and end with it")
    func minted() async throws {
        try await APIFixture.run { api in
            let made = await api.call(
                .post, "/v1/keys", #"{"scopes":["emit","read"],"channels":["a.*"]}"#)
            let key = try #require(made["key"]?.string)
            let body = #"{"user":"ana","scopes":["read","emit"],"channels":["a.b"],"expires_in_seconds":60}"#
            let answer = await api.call(.post, "/v1/tokens", body, key: key)
            #expect(answer.status == 201)
            #expect(answer.header("Cache-Control") == "no-store")
            let token = try #require(answer["token"]?.string)
            #expect(await api.call(.get, "/v1/channels/a.b/events", key: token).status == 200)
            #expect(await api.call(.get, "/v1/channels/a.c/events", key: token).status == 403)
            let refused = [
                (#"{"user":"ana","scopes":["manage"]}"#, 400), (#"{"user":"ana","channels":["b"]}"#, 403),
            ]
            for (body, status) in refused {
                #expect(await api.call(.post, "/v1/tokens", body, key: key).status == status)
            }
            #expect(await api.call(.post, "/v1/tokens", #"{"user":"bob"}"#, key: token).status == 403)
            let id = try #require(made["id"]?.string)
            #expect(await api.call(.delete, "/v1/keys/\(id)").status == 204)
            #expect(await api.call(.get, "/v1/channels/a.b/events", key: token).code == "credential_invalid")
        }
    }

    @Test("show nothing of what lies in channels of others, whatever groups, drafts or subscriptions are asked")
    func others() async throws {
        try await APIFixture.run { api in
            let member = #"{"id":"crew","kind":"group","users":["ben"]}"#
            #expect(await api.call(.post, "/v1/channels", member).status == 201)
            let event = #"{"type":"note","data":{"secret":"word"}}"#
            #expect(await api.call(.post, "/v1/channels/crew/events", event).status == 201)
            let token = Self.token(Self.claims(user: "mallory"))
            let draft = await api.call(.post, "/v1/event-types/note/infer", "{}", key: token)
            #expect(draft.status == 403)
            let caller = try api.api.caller(
                of: Request(.get, "/", headers: Headers([("Authorization", "Bearer " + token)])))
            let chat = api.service.chat(for: caller)
            let asked = try chat.selection(channels: ["*"])
            let groups = GroupSelection(names: ["none"], channels: ["*"], version: 0)
            for selection in [asked, try await chat.selection(of: groups, like: asked)] {
                var catchUp = chat.catchUp(selection, after: .zero, upTo: try await chat.watermark())
                #expect(try await catchUp.nextPage(limit: 50).contains { $0.channel.name == "crew" } == false)
            }
        }
    }

    @Test("say when they end")
    func told() async throws {
        try await APIFixture.run { api in
            let end = api.service.clock.now.adding(.seconds(300))
            let key = try await api.key([.read], expires: end)
            let made = await api.call(.post, "/v1/tokens", #"{"user":"ana"}"#, key: key)
            #expect(made["expires_at"]?.string == end.timestamp)
        }
    }

    @Test("get tickets for streams of their user, no longer than they hold themselves")
    func tickets() async throws {
        try await APIFixture.run { api in
            let token = Self.token(Self.claims(#","channels":["a.*"]"#, exp: Self.now + 10))
            let answer = await api.call(.post, "/v1/stream-tickets", #"{"channels":["a.b"]}"#, key: token)
            let text = try #require(answer["ticket"]?.string)
            let (caller, _) = try api.api.streams.tickets.caller(of: text)
            #expect(caller.user == "ana")
            #expect(caller.expires == Timetoken((Self.now + 70) * Timetoken.ticksPerSecond))
            #expect(await api.call(.post, "/v1/stream-tickets", #"{"channels":["b"]}"#, key: token).status == 403)
            let other = await api.call(.post, "/v1/stream-tickets", #"{"channels":["a.b"],"user":"bob"}"#, key: token)
            #expect(other.status == 403)
        }
    }

    @Test("share the rates of their app")
    func rates() async throws {
        try await APIFixture.run { api in
            let policy = #"{"rate_limit":{"quantity":3,"window_seconds":60}}"#
            #expect(await api.call(.patch, "/v1/apps/default", policy).status == 200)
            var statuses: [Int] = []
            for user in ["ana", "ben", "cleo", "dora"] {
                let token = Self.token(Self.claims(user: user))
                statuses.append(await api.call(.get, "/v1/channels/a/events", key: token).status)
            }
            #expect(statuses == [200, 200, 200, 429])
        }
    }

    @Test("of two users may use the same Idempotency-Key")
    func idempotency() async throws {
        try await APIFixture.run { api in
            for user in ["ana", "bob"] {
                let token = Self.token(Self.claims(#","scope":"emit""#, user: user))
                let answer = await api.call(
                    .post, "/v1/channels/a/messages", #"{"text":"hi"}"#, key: token, headers: [("Idempotency-Key", "1")]
                )
                #expect(answer.status == 201)
                #expect(answer.header("Idempotency-Replayed") == nil)
            }
            #expect(await api.history("a").count == 2)
        }
    }

    @Test("refuses what is no public key, and HS256 with one", arguments: ["HS256", "RS256", "ES256", "EdDSA", "none"])
    func badKeys(_ algorithm: String) async throws {
        try await APIFixture.run { api in
            let pem = #"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"#
            let answer = await api.call(
                .post, "/v1/keys", #"{"scopes":["read"],"jwt":{"alg":"\#(algorithm)","public_key":"\#(pem)"}}"#)
            #expect(answer.status == 400)
        }
    }
}
