import ChatModel
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("An Idempotency-Key") struct IdempotencyTests {
    private static func key(_ text: String) -> [(name: String, value: String)] { [("Idempotency-Key", text)] }

    @Test("makes a repeat the same answer and not a second event")
    func repeats() async throws {
        try await APIFixture.run { api in
            func post() async -> Answer {
                await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("order-7"))
            }
            let first = await post()
            let second = await post()
            #expect(first.status == 201)
            #expect(first.header("Idempotency-Replayed") == nil)
            #expect(second.status == 201)
            #expect(second.bytes == first.bytes)
            #expect(second.header("Idempotency-Replayed") == "true")
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("is the same quoted and bare")
    func quotes() async throws {
        try await APIFixture.run { api in
            let bare = await api.call(
                .post, "/v1/channels/a/signals", #"{"data":1}"#, headers: Self.key("8e03978e-40d5"))
            let quoted = await api.call(
                .post, "/v1/channels/a/signals", #"{"data":1}"#, headers: Self.key(#""8e03978e-40d5""#))
            #expect(bare.status == 202)
            #expect(quoted.bytes == bare.bytes)
        }
    }

    @Test("with another request is 422")
    func reuse() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("k"))
            for (target, body) in [
                ("/v1/channels/a/events", #"{"data":2}"#), ("/v1/channels/b/events", #"{"data":1}"#),
            ] {
                let answer = await api.call(.post, target, body, headers: Self.key("k"))
                #expect(answer.status == 422)
                #expect(answer.code == "idempotency_key_reused")
            }
            #expect(await api.history("b").isEmpty)
        }
    }

    @Test("belongs to its route and its API key")
    func scope() async throws {
        try await APIFixture.run { api in
            let other = try await api.key([.emit])
            let headers = Self.key("k")
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: headers)
            let route = await api.call(.post, "/v1/channels/a/messages", #"{"data":1}"#, headers: headers)
            let holder = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, key: other, headers: headers)
            #expect(route.status == 201 && route.header("Idempotency-Replayed") == nil)
            #expect(holder.status == 201 && holder.header("Idempotency-Replayed") == nil)
            #expect(await api.history("a").count == 3)
        }
    }

    @Test("is forgotten after a day")
    func window() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("k"))
            api.clock.advance(by: .seconds(24 * 3600 + 1))
            let later = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("k"))
            #expect(later.header("Idempotency-Replayed") == nil)
        }
    }

    @Test("is not spent by a request that was refused")
    func refused() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1,"type":""}"#, headers: Self.key("k"))
            let good = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("k"))
            #expect(good.status == 201)
        }
    }

    @Test(
        "that cannot be used is 400",
        arguments: ["", "a b", "é", #""a b""#, String(repeating: "k", count: 256), "a\tb"])
    func malformed(_ text: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key(text))
            #expect(answer.code == "bad_idempotency_key")
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("in the same moment stores once: the others repeat or are told to wait")
    func concurrent() async throws {
        try await APIFixture.run { api in
            let answers = await withTaskGroup(of: Answer.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: Self.key("k"))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 201 || $0.status == 409 })
            #expect(answers.allSatisfy { $0.status == 201 || $0.header("Retry-After") == "1" })
            #expect(answers.contains { $0.status == 201 })
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("under way makes a repeat 409 with Retry-After")
    func running() async throws {
        let claims = Claims(limits: Limits(), clock: .system)
        let caller = Caller(space: SpaceID("a"), credential: "key_1", scopes: [.emit])
        let request = Request(.post, "/v1/events", headers: Headers([("Idempotency-Key", "k")]))
        let key = try #require(try IdempotencyKey(request.headers))
        let first = try await claims.run(key, .anyChannel, request, caller) { _ in
            let second = await #expect(throws: ChatError.self) {
                try await claims.run(key, .anyChannel, request, caller) { _ in .empty() }
            }
            #expect(second?.slug == "idempotency_key_running")
            #expect(second?.retryAfter == .seconds(1))
            return .empty()
        }
        #expect(first.status == 204)
        // Over, so the next one runs.
        #expect(try await claims.run(key, .anyChannel, request, caller) { _ in .empty() }.status == 204)
    }

    @Test("has the published fingerprint")
    func fingerprint() {
        let body =
            #"{"type":"message.created","timestamp":"2023-11-14T22:13:20.000Z","data":{"channel":"general","user":"u_1","text":"héllo"}}"#
        let request = Request(
            .post, "/v1/channels/general/events", headers: Headers([("Content-Type", "application/json")]),
            body: Array(body.utf8))
        #expect(
            Hex.encode(Claims.fingerprint(request))
                == "58757f433ef2d32ec75f579b0dd3825625221f4c04c389328d435e3338ae20a1")
    }
}
