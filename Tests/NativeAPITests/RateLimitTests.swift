import ChatCore
import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Rate limits") struct RateLimitTests {
    private static let event = #"{"type":"order.paid","data":{}}"#

    private static func key(_ api: APIFixture, _ members: String) async throws -> (id: String, text: String) {
        let made = await api.call(.post, "/v1/keys", #"{"scopes":["emit","read"],\#(members)}"#)
        #expect(made.status == 201)
        return (try #require(made["id"]?.string), try #require(made["key"]?.string))
    }

    @Test("appear in every response, and refuse requests beyond them with the time to wait")
    func keyLimit() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""rate_limit":{"quantity":2,"window_seconds":60}"#)
            let first = await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text)
            #expect(first.status == 201)
            #expect(first.header("RateLimit-Policy") == #""key";q=2;w=60"#)
            #expect(first.header("RateLimit") == #""key";r=1;t=30"#)
            // A request that is refused before its route runs does not count, but its response has the fields too.
            let early = await api.call(
                .post, "/v1/channels/a/events", Self.event, key: key.text, headers: [("If-Match", #""1""#)])
            #expect(early.status == 400 && early.header("RateLimit") == #""key";r=1;t=30"#)
            // A refused request costs as much as any other.
            #expect(await api.call(.get, "/v1/keys", key: key.text).header("RateLimit") == #""key";r=0;t=60"#)
            let refused = await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text)
            #expect(refused.status == 429 && refused.code == "quota_exceeded")
            #expect(refused["type"]?.string == "https://gw.example/problems/quota-exceeded")
            #expect(refused["violated-policies"]?.elements?.compactMap(\.string) == ["key"])
            #expect(refused["retryable"]?.boolean == true)
            #expect(refused.header("Retry-After") == "30")
            #expect(refused.header("RateLimit-Policy") == #""key";q=2;w=60"#)
            api.clock.advance(by: .seconds(30))
            #expect(await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text).status == 201)
        }
    }

    @Test("counts the events of a batch against the quota, and says so to streams and tickets as well")
    func eventQuota() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""event_quota":{"quantity":3,"window_seconds":86400}"#)
            let batch =
                #"{"mode":"atomic","events":[{"channel":"a","type":"x","data":1},{"channel":"a","type":"x","data":2}]}"#
            #expect(await api.call(.post, "/v1/events/batch", batch, key: key.text).status == 200)
            let refused = await api.call(.post, "/v1/events/batch", batch, key: key.text)
            #expect(refused.status == 429)
            #expect(refused["violated-policies"]?.elements?.compactMap(\.string) == ["key-events"])
            #expect(await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text).status == 201)
            #expect(await api.call(.get, "/v1/channels/a/events/count", key: key.text)["count"]?.integer == 3)
        }
    }

    @Test("refuses a batch with more events than the quota allows, and stores none of them")
    func batchBeyondQuota() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""event_quota":{"quantity":2,"window_seconds":60}"#)
            let event = #"{"channel":"a","type":"x","data":1}"#
            for mode in ["atomic", "each"] {
                let refused = await api.call(
                    .post, "/v1/events/batch", #"{"mode":"\#(mode)","events":[\#(event),\#(event),\#(event)]}"#,
                    key: key.text)
                #expect(refused.status == 413 && refused.code == "too_many_events", "\(refused.text)")
                #expect(refused["limit"]?.integer == 2 && refused["retryable"]?.boolean == false)
                #expect(refused.header("Retry-After") == nil)
                #expect(refused.header("RateLimit") == #""key-events";r=2;t=0"#)
            }
            #expect(await api.call(.get, "/v1/channels/a/events/count", key: key.text)["count"]?.integer == 0)
        }
    }

    @Test("repeats the answer to a repeat although the quota is used up")
    func repeats() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""event_quota":{"quantity":1,"window_seconds":86400}"#)
            let header = [(name: "Idempotency-Key", value: "one")]
            let first = await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text, headers: header)
            let second = await api.call(.post, "/v1/channels/a/events", Self.event, key: key.text, headers: header)
            #expect(second.status == 201 && second["id"]?.string == first["id"]?.string)
        }
    }

    @Test("changes and removes the limit of a key, and leaves its app's limit")
    func patched() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""rate_limit":{"quantity":1,"window_seconds":60}"#)
            _ = await api.call(.get, "/v1/channels/a/events", key: key.text)
            #expect(await api.call(.get, "/v1/channels/a/events", key: key.text).status == 429)
            let free = await api.call(.patch, "/v1/keys/\(key.id)", #"{"rate_limit":null}"#)
            #expect(free.status == 200 && free["rate_limit"]?.isNull == true)
            let answer = await api.call(.get, "/v1/channels/a/events", key: key.text)
            #expect(answer.status == 200 && answer.header("RateLimit") == nil)
            let app = await api.call(
                .patch, "/v1/apps/default", #"{"rate_limit":{"quantity":1,"window_seconds":1}}"#)
            #expect(app["rate_limit"]?["quantity"]?.integer == 1)
            let last = await api.call(.get, "/v1/channels/a/events", key: key.text)
            #expect(last.header("RateLimit") == #""app";r=0;t=1"#)
            // All keys of the app share the limit, except the operator's key, which can remove it.
            let other = try #require(await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)["key"]?.string)
            #expect(await api.call(.get, "/v1/channels/a/events", key: other).status == 429)
            #expect(await api.call(.patch, "/v1/apps/default", #"{"rate_limit":null}"#).status == 200)
            #expect(await api.call(.get, "/v1/channels/a/events", key: other).status == 200)
        }
    }

    @Test("lets operators alone set an app's rates, of any app")
    func operatorsOnly() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme"}"#)
            let (id, own) = (try #require(made["id"]?.string), try #require(made["admin_key"]?.string))
            let quota = #"{"event_quota":{"quantity":5,"window_seconds":86400}}"#
            #expect(await api.call(.patch, "/v1/apps/\(id)", quota, key: own).status == 403)
            #expect(await api.call(.patch, "/v1/apps/\(id)", quota)["event_quota"]?["quantity"]?.integer == 5)
            #expect(await api.call(.patch, "/v1/apps/\(id)", #"{"demand_tokens":true}"#).status == 403)
            #expect(await api.call(.patch, "/v1/apps/\(id)", #"{"demand_tokens":true}"#, key: own).status == 200)
        }
    }

    @Test("holds every key to the deployment's default")
    func defaults() async throws {
        var limits = Limits()
        limits.keyRequestsPerSecond = 1
        try await APIFixture.run(limits: limits) { api in
            #expect(await api.call(.get, "/v1/keys").status == 200)
            #expect(await api.call(.get, "/v1/keys").status == 429)
        }
    }

    @Test("refuses policies without effect", arguments: ["{}", #"{"quantity":0,"window_seconds":1}"#, "5"])
    func malformed(policy: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/keys", #"{"scopes":["read"],"rate_limit":\#(policy)}"#)
            #expect(answer.status == 400)
        }
    }

    @Test("hold a user's token as the key it comes from")
    func tokens() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""rate_limit":{"quantity":2,"window_seconds":60}"#)
            let made = await api.call(.post, "/v1/tokens", #"{"user":"ana"}"#, key: key.text)
            let token = try #require(made["token"]?.string)
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).status == 200)
            #expect(await api.call(.get, "/v1/channels/a/events", key: token).status == 429)
        }
    }

    @Test("hold an app's sources")
    func sources() async throws {
        try await APIFixture.run { api in
            let source = #"{"scheme":"none","mapping":{"channel":"a","type":"x","data":{"$":"body"}}}"#
            #expect(await api.call(.put, "/v1/sources/shop", source).status == 201)
            let rates = #"{"event_quota":{"quantity":1,"window_seconds":60}}"#
            #expect(await api.call(.patch, "/v1/apps/default", rates).status == 200)
            let json = [(name: "Content-Type", value: "application/json")]
            #expect(await api.call(.post, "/in/shop", "{}", key: nil, headers: json).status == 202)
            let refused = await api.call(.post, "/in/shop", "{}", key: nil, headers: json)
            #expect(refused.status == 429 && refused.code == "quota_exceeded")
        }
    }

    @Test("are not used up by posts without a right signature, nor by keys that do not hold")
    func strangers() async throws {
        try await APIFixture.run { api in
            let source =
                #"{"scheme":"github","secrets":["topsecret"],"mapping":{"channel":"a","type":"x","data":1}}"#
            #expect(await api.call(.put, "/v1/sources/shop", source).status == 201)
            let rates = #"{"rate_limit":{"quantity":3,"window_seconds":60}}"#
            let reader = try await api.key([.read])
            #expect(await api.call(.patch, "/v1/apps/default", rates).status == 200)
            let fields = [(name: "Content-Type", value: "application/json"), ("X-Hub-Signature-256", "sha256=00")]
            for _ in 0..<5 {
                #expect(await api.call(.post, "/in/shop", "{}", key: nil, headers: fields).status == 401)
                #expect(await api.call(.post, "/v1/session", #"{"key":"guessed"}"#, key: nil).status == 401)
            }
            let answer = await api.call(.get, "/v1/channels/a/events", key: reader)
            #expect(answer.header("RateLimit") == #""app";r=2;t=20"#)
        }
    }

    @Test("count a sign-in as a request")
    func signIn() async throws {
        try await APIFixture.run { api in
            let key = try await Self.key(api, #""rate_limit":{"quantity":1,"window_seconds":60}"#)
            let body = #"{"key":"\#(key.text)"}"#
            #expect(await api.call(.post, "/v1/session", body, key: nil).status == 200)
            #expect(await api.call(.post, "/v1/session", body, key: nil).status == 429)
        }
    }

    @Test("take other defaults while they hold, and keep the buckets of those that stay")
    func otherDefaults() async throws {
        var limits = Limits()
        limits.keyRequestsPerSecond = 2
        try await APIFixture.run(limits: limits) { [limits] api in
            let reader = try await api.key([.read])
            func left() async -> String? {
                await api.call(.get, "/v1/channels/a/events", key: reader).header("RateLimit")
            }
            #expect(await left() == #""key";r=1;t=1"#)
            var later = limits
            later.appRequestsPerSecond = 9
            api.service.keyring.replace(limits: later)
            #expect(await left() == #""key";r=0;t=1, "app";r=8;t=1"#)
            // The requests of PubNub's clients count against the same meter.
            let keyring = api.service.keyring
            let app = try #require(keyring.apps.first)
            let meters = try #require(keyring.keyset(subscribeKey: app.subscribeKey)?.record.meters)
            #expect(meters === keyring.meters(of: app.id))
            later.keyRequestsPerSecond = 0
            later.appRequestsPerSecond = 0
            keyring.replace(limits: later)
            #expect(await left() == nil)
            #expect(keyring.keyset(subscribeKey: app.subscribeKey)?.record.meters == nil)
        }
    }

    @Test("log a post that they refuse")
    func refusedPosts() async throws {
        try await APIFixture.run { api in
            let source = #"{"scheme":"none","mapping":{"channel":"a","type":"x","data":1}}"#
            #expect(await api.call(.put, "/v1/sources/shop", source).status == 201)
            let rates = #"{"rate_limit":{"quantity":1,"window_seconds":60}}"#
            #expect(await api.call(.patch, "/v1/apps/default", rates).status == 200)
            #expect(await api.call(.post, "/in/shop", "{}", key: nil).status == 202)
            #expect(await api.call(.post, "/in/shop", "{}", key: nil).status == 429)
            let log = await api.call(.get, "/v1/sources/shop/requests")["data"]?.elements ?? []
            #expect(log.compactMap { $0["outcome"]?.string } == ["failed", "accepted"])
        }
    }
}
