import ChatCore
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

    /// Requests that make something, or count, and what to look at to see how often they did.
    static let makings: [(HTTPMethod, String, String, look: String)] = [
        (.post, "/v1/channels", #"{"kind":"group","name":"new"}"#, "/v1/channels"),
        (.post, "/v1/channels/room/invites", #"{"users":["ben"]}"#, "/v1/channels/room/members"),
        (.post, "/v1/channels/room/metadata", #"{"metadata":{"color":"red"}}"#, "/v1/channels/room/metadata"),
        (.post, "/v1/channels/room/metacounters", #"{"metacounters":{"n":1}}"#, "/v1/channels/room/metacounters"),
        (
            .patch, "/v1/channels/room/metacounters", #"{"metacounters":{"votes":3},"mode":"inc"}"#,
            "/v1/channels/room/metacounters"
        ),
        (.post, "/v1/subscriptions", #"{"channels":["room"]}"#, "/v1/subscriptions"),
        (.post, "/v1/event-types/a.b/versions", #"{"schema":{"type":"object"}}"#, "/v1/event-types/a.b/versions"),
        (.post, "/v1/channels/room/messages/{message}/forward", #"{"channel":"hall"}"#, "/v1/channels/hall/messages"),
        (
            .post, "/v1/channels/room/messages/{message}/actions", #"{"type":"reaction","value":"+1","user":"ben"}"#,
            "/v1/channels/room/messages/{message}/actions"
        ),
        (
            .post, "/v1/channels/room/messages/{message}/report", #"{"reason":"rude","by":"ben"}"#,
            "/v1/channels/room/reports"
        ),
    ]

    private func prepare(_ api: APIFixture) async throws -> String {
        #expect(await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#).status == 201)
        #expect(await api.call(.put, "/v1/channels/hall", #"{"kind":"group"}"#).status == 201)
        for user in ["ana", "ben"] { #expect(await api.call(.put, "/v1/users/\(user)", "{}").status == 201) }
        #expect(await api.call(.put, "/v1/event-types/a.b", "{}").status == 201)
        #expect(
            await api.call(.post, "/v1/channels/room/metacounters", #"{"metacounters":{"votes":1}}"#).status == 201)
        let message = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#)
        return try #require(message["timetoken"]?.string)
    }

    @Test("is honored by everything that makes something, or counts", arguments: makings)
    func everywhere(_ method: HTTPMethod, _ path: String, _ body: String, look: String) async throws {
        try await APIFixture.run { api in
            let message = try await prepare(api)
            func named(_ path: String) -> String { path.replacing("{message}", with: message) }
            let first = await api.call(method, named(path), body, headers: Self.key("k"))
            #expect((200...299).contains(first.status), "\(first.text)")
            let made = await api.call(.get, named(look)).text
            for _ in 0..<2 {
                let repeated = await api.call(method, named(path), body, headers: Self.key("k"))
                #expect(repeated.status == first.status && repeated.bytes == first.bytes, "\(repeated.text)")
                #expect(repeated.header("Location") == first.header("Location"))
                #expect(repeated.header("Idempotency-Replayed") == "true")
            }
            #expect(await api.call(.get, named(look)).text == made)
            let other = await api.call(method, named(path), body + " ", headers: Self.key("k"))
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
        }
    }

    @Test(
        "is refused where a credential is returned",
        arguments: [
            ("/v1/keys", #"{"name":"k","scopes":["read"]}"#), ("/v1/tokens", #"{"user":"ana"}"#),
            ("/v1/apps", #"{"id":"shop","name":"Shop"}"#), ("/v1/stream-tickets", "{}"),
            ("/v1/webhooks", #"{"url":"https://example.com/hook"}"#), ("/v1/apps/default/rotate-secret", "{}"),
            ("/v1/session", "{}"),
        ])
    func credentials(_ path: String, _ body: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, path, body, headers: Self.key("k"))
            #expect(answer.status == 400 && answer.code == "bad_idempotency_key", "\(answer.text)")
        }
    }

    @Test("whose answer was lost makes nothing a second time, and says so")
    func lostAnswer() async throws {
        try await APIFixture.run { api in
            let body = #"{"channels":["room"]}"#
            let request = Request(
                .post, "/v1/subscriptions",
                headers: Headers([
                    ("Authorization", "Bearer \(api.adminKey)"), ("Idempotency-Key", "k"),
                ]), body: Array(body.utf8))
            let caller = try api.api.caller(of: request)
            let key = try #require(try IdempotencyKey(request.headers))
            // As if the gateway had ended behind the commit of the subscription.
            struct End: Error {}
            await #expect(throws: End.self) {
                try await api.api.claims.once(key, request, caller, api.service.answers) {
                    _ = try await api.api.postSubscription(request, caller)
                    throw End()
                }
            }
            let early = await api.call(.post, "/v1/subscriptions", body, headers: Self.key("k"))
            #expect(early.status == 409 && early.code == "idempotency_key_running")
            api.clock.advance(by: .seconds(61))
            let late = await api.call(.post, "/v1/subscriptions", body, headers: Self.key("k"))
            #expect(late.status == 409 && late.code == "idempotency_answer_lost")
            #expect(await api.call(.get, "/v1/subscriptions")["data"]?.count == 1)
            // And after the window it is a new request.
            api.clock.advance(by: .seconds(24 * 3600))
            #expect(await api.call(.post, "/v1/subscriptions", body, headers: Self.key("k")).status == 201)
        }
    }

    @Test("whose answer is too large to keep is counted, and is not carried out a second time")
    func largeAnswer() async throws {
        try await APIFixture.run { api in
            let body = #"{"channels":["room"]}"#
            let request = Request(
                .post, "/v1/subscriptions",
                headers: Headers([
                    ("Authorization", "Bearer \(api.adminKey)"), ("Idempotency-Key", "k"),
                ]), body: Array(body.utf8))
            let caller = try api.api.caller(of: request)
            let key = try #require(try IdempotencyKey(request.headers))
            let response = try await api.api.claims.once(key, request, caller, api.service.answers) {
                _ = try await api.api.postSubscription(request, caller)
                return Response(status: 201, headers: [], body: .bytes(Array(repeating: 0x20, count: 256 * 1024 + 1)))
            }
            #expect(response.status == 201)
            #expect(api.service.answers.lostAnswers == 1)
            api.clock.advance(by: .seconds(61))
            let again = await api.call(.post, "/v1/subscriptions", body, headers: Self.key("k"))
            #expect(again.status == 409 && again.code == "idempotency_answer_lost")
            #expect(await api.call(.get, "/v1/subscriptions")["data"]?.count == 1)
        }
    }

    @Test("that was refused is spent by nothing, of records too")
    func refusedRecord() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            let (path, body) = ("/v1/channels/room/metadata", #"{"metadata":{"color":"red"}}"#)
            #expect(await api.call(.post, path, body).status == 201)
            #expect(await api.call(.post, path, body, headers: Self.key("k")).status == 409)
            #expect(await api.call(.delete, path + "/color").status == 204)
            #expect(await api.call(.post, path, body, headers: Self.key("k")).status == 201)
        }
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
