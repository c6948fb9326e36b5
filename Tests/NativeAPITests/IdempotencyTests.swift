import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Signing
import TestSupport
import Testing
import Text

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

    @Test("sent concurrently stores once: the others get the first response or are asked to wait")
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

    /// Requests that create or count something, and the path that shows how often they did.
    static let makings: [(HTTPMethod, String, String, look: String)] = [
        (.post, "/v1/channels", #"{"kind":"group","name":"new"}"#, "/v1/channels"),
        (.post, "/v1/channels/room/invites", #"{"users":["ben"]}"#, "/v1/channels/room/members"),
        (.post, "/v1/channels/room/metadata", #"{"metadata":{"color":"red"}}"#, "/v1/channels/room/metadata"),
        (.post, "/v1/channels/room/metacounters", #"{"metacounters":{"n":1}}"#, "/v1/channels/room/metacounters"),
        (
            .post, "/v1/channels/room/increment-metacounters", #"{"metacounters":{"votes":3}}"#,
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

    /// Operations that neither honor nor refuse a key, because they store nothing or their sender is no client of this
    /// API.
    static let unkeyed: Set<String> = [
        "POST /v1/history", "POST /v1/events/validate", "POST /v1/event-types/{type}/validate",
        "POST /v1/event-types/{type}/infer", "POST /v1/webhooks/{id}/preview", "POST /v1/sources/{id}/test",
        // The response holds events, which a hard delete must remove, so no copy is stored. Items of a lost response
        // come again after their deadline.
        "POST /v1/subscriptions/{id}/pull",
        // A provider's deliveries are identified by the source's scheme.
        "POST /in/{source}", "POST /in/{app}/{source}",
    ]
    /// Operations that honor a key but need an open stream; another test covers them.
    static let ofStreams: Set<String> = ["PATCH /v1/streams/{id}"]
    /// Honored by the commit of the webhook's record; a receiver that answers is needed.
    static let ofReceivers: Set<String> = ["POST /v1/webhooks/{id}/verify"]

    /// A request for each other operation that accepts a key. `KEY` and similar words stand for ids of prepared
    /// records.
    static let keyed: [(operation: String, target: String, body: String)] = [
        ("POST /v1/channels/{channel}/messages", "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#),
        (
            "PATCH /v1/channels/{channel}/messages/{timetoken}", "/v1/channels/room/messages/MESSAGE",
            #"{"text":"ho"}"#
        ),
        (
            "POST /v1/channels/{channel}/messages/{timetoken}/forward", "/v1/channels/room/messages/MESSAGE/forward",
            #"{"channel":"hall"}"#
        ),
        (
            "POST /v1/channels/{channel}/messages/{timetoken}/report", "/v1/channels/room/messages/MESSAGE/report",
            #"{"reason":"rude","by":"ben"}"#
        ),
        (
            "POST /v1/channels/{channel}/messages/{timetoken}/actions", "/v1/channels/room/messages/MESSAGE/actions",
            #"{"type":"reaction","value":"+1","user":"ben"}"#
        ),
        ("POST /v1/channels/{channel}/metadata", "/v1/channels/room/metadata", #"{"metadata":{"a":"1"}}"#),
        ("PATCH /v1/channels/{channel}/metadata", "/v1/channels/room/metadata", #"{"metadata":{"a":"2"}}"#),
        ("POST /v1/channels/{channel}/metacounters", "/v1/channels/room/metacounters", #"{"metacounters":{"n":1}}"#),
        (
            "POST /v1/channels/{channel}/increment-metacounters", "/v1/channels/room/increment-metacounters",
            #"{"metacounters":{"n":3}}"#
        ),
        ("POST /v1/channels/{channel}/events", "/v1/channels/room/events", #"{"type":"a.c","data":1}"#),
        ("POST /v1/channels/{channel}/signals", "/v1/channels/room/signals", #"{"data":1}"#),
        ("POST /v1/channels/{channel}/fire", "/v1/channels/room/fire", #"{"data":1}"#),
        ("POST /v1/events", "/v1/events", #"{"channels":["room"],"data":1}"#),
        ("POST /v1/events/batch", "/v1/events/batch", #"{"events":[{"channel":"room","data":1}]}"#),
        (
            "POST /v1/import", "/v1/import",
            #"{"records":[{"record":"message","channel":"old","timetoken":"16000000000000000","data":1}]}"#
        ),
        ("PATCH /v1/keys/{id}", "/v1/keys/KEY", #"{"rate_limit":{"quantity":9,"window_seconds":60}}"#),
        ("PATCH /v1/apps/{id}", "/v1/apps/default", #"{"retention_hours":9}"#),
        ("POST /v1/signing-key/rotate", "/v1/signing-key/rotate", ""),
        // A running job would change the delivery that is retried.
        ("POST /v1/jobs/{id}/pause", "/v1/jobs/JOB/pause", ""),
        ("POST /v1/deliveries/{id}/retry", "/v1/deliveries/DELIVERY/retry", ""),
        ("PATCH /v1/webhooks/{id}", "/v1/webhooks/WEBHOOK", #"{"description":"x"}"#),
        ("POST /v1/webhooks/{id}/enable", "/v1/webhooks/WEBHOOK/enable", ""),
        ("POST /v1/webhooks/{id}/disable", "/v1/webhooks/WEBHOOK/disable", ""),
        ("POST /v1/webhooks/{id}/test", "/v1/webhooks/WEBHOOK/test", ""),
        ("POST /v1/webhooks/{id}/replay", "/v1/webhooks/WEBHOOK/replay", #"{"only":"all","rate_per_second":1}"#),
        ("POST /v1/jobs/{id}/resume", "/v1/jobs/JOB/resume", ""),
        ("POST /v1/jobs/{id}/cancel", "/v1/jobs/JOB/cancel", ""),
        ("POST /v1/deliveries/redrive", "/v1/deliveries/redrive", #"{"types":["a.*"]}"#),
        ("POST /v1/deliveries/purge", "/v1/deliveries/purge", #"{"all":true}"#),
        ("POST /v1/subscriptions", "/v1/subscriptions", #"{"channels":["room"]}"#),
        ("PATCH /v1/subscriptions/{id}", "/v1/subscriptions/SUBSCRIPTION", #"{"description":"x"}"#),
        ("POST /v1/subscriptions/{id}/ack", "/v1/subscriptions/SUBSCRIPTION/ack", #"{"ack_ids":["ACK1"]}"#),
        ("POST /v1/subscriptions/{id}/nack", "/v1/subscriptions/SUBSCRIPTION/nack", #"{"ack_ids":["ACK2"]}"#),
        (
            "POST /v1/subscriptions/{id}/extend", "/v1/subscriptions/SUBSCRIPTION/extend",
            #"{"ack_ids":["ACK3"],"seconds":60}"#
        ),
        ("POST /v1/subscriptions/{id}/seek", "/v1/subscriptions/SUBSCRIPTION/seek", #"{"to":"earliest"}"#),
        ("POST /v1/sources/{id}/requests/{request}/replay", "/v1/sources/s/requests/REQUEST/replay", ""),
        ("POST /v1/event-types/{type}/versions", "/v1/event-types/a.b/versions", #"{"schema":{"type":"object"}}"#),
        ("POST /v1/event-types/{type}/candidate/promote", "/v1/event-types/a.b/candidate/promote", ""),
        ("POST /v1/users/{user}/read-all", "/v1/users/ana/read-all", ""),
        ("PATCH /v1/users/{user}", "/v1/users/ana", #"{"name":"Ana"}"#),
        ("POST /v1/users/{user}/revoke-tokens", "/v1/users/ana/revoke-tokens", ""),
        ("POST /v1/channels", "/v1/channels", #"{"kind":"group","name":"new"}"#),
        ("PATCH /v1/channels/{channel}", "/v1/channels/room", #"{"name":"Room"}"#),
        ("PATCH /v1/channels/{channel}/members/{user}", "/v1/channels/room/members/ana", #"{"status":"x"}"#),
        ("POST /v1/channels/{channel}/invites", "/v1/channels/room/invites", #"{"users":["ben","eve"]}"#),
        ("POST /v1/channels/{channel}/invites/{user}/accept", "/v1/channels/room/invites/ben/accept", ""),
        ("POST /v1/channels/{channel}/invites/{user}/decline", "/v1/channels/room/invites/eve/decline", ""),
        ("PATCH /v1/channel-groups/{group}", "/v1/channel-groups/g", #"{"channels":["b"]}"#),
        ("PATCH /v1/channels/{channel}/metacounters", "/v1/channels/room/metacounters", #"{"metacounters":{"n":7}}"#),
        ("PATCH /v1/event-types/{type}", "/v1/event-types/a.b", #"{"owner":"x"}"#),
        ("PATCH /v1/sources/{id}", "/v1/sources/s", #"{"description":"x"}"#),
        ("POST /v1/channel-groups/{group}/channels", "/v1/channel-groups/g/channels", #"{"add":["a"]}"#),
    ]

    /// Creates the records that the requests of `keyed` use.
    private func prepareAll(_ api: APIFixture) async throws -> [String: String] {
        var made = ["MESSAGE": try await prepare(api)]
        func note(_ name: String, _ answer: Answer, _ member: String = "id") throws {
            made[name] = try #require(answer[member]?.string, "\(name): \(answer.text)")
        }
        _ = await api.call(.delete, "/v1/channels/room/metacounters")
        _ = await api.call(.put, "/v1/channels/room/members/ana", "{}")
        _ = await api.call(.put, "/v1/event-types/a.b/candidate", #"{"schema":{"type":"object","title":"b"}}"#)
        try note("KEY", await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#))
        try note("WEBHOOK", await api.call(.post, "/v1/webhooks", #"{"url":"https://hook.invalid/","types":["a.*"]}"#))
        _ = await api.call(.post, "/v1/webhooks/\(made["WEBHOOK"] ?? "")/disable")
        try note("SUBSCRIPTION", await api.call(.post, "/v1/subscriptions", #"{"types":["a.*"]}"#))
        for _ in 0..<3 { _ = await api.call(.post, "/v1/channels/room/events", #"{"type":"a.x","data":1}"#) }
        made["DELIVERY"] = await api.firstDelivery(of: made["WEBHOOK"] ?? "")["data"]?[0]?["id"]?.string
        let pulled = await api.call(
            .post, "/v1/subscriptions/\(made["SUBSCRIPTION"] ?? "")/pull", #"{"limit":3,"wait_seconds":20}"#)
        for (index, item) in (pulled["data"]?.elements ?? []).enumerated() {
            made["ACK\(index + 1)"] = item["ack_id"]?.string
        }
        let replay = await api.call(
            .post, "/v1/webhooks/\(made["WEBHOOK"] ?? "")/replay", #"{"only":"all","rate_per_second":1}"#)
        try note("JOB", replay, "job")
        let source = #"{"scheme":"none","mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#
        _ = await api.call(.put, "/v1/sources/s", source)
        _ = await api.call(.post, "/in/s", "{}", key: nil)
        made["REQUEST"] = await api.call(.get, "/v1/sources/s/requests")["data"]?[0]?["id"]?.string
        _ = await api.call(.put, "/v1/channel-groups/g", #"{"channels":[]}"#)
        return made
    }

    @Test("is honored by every operation that declares it")
    func everyOperation() async throws {
        try await APIFixture.run { api in
            let made = try await prepareAll(api)
            for (index, (operation, target, body)) in Self.keyed.enumerated() {
                func named(_ text: String) -> String {
                    made.sorted { $0.key.count > $1.key.count }.reduce(text) { $0.replacing($1.key, with: $1.value) }
                }
                let method: HTTPMethod = operation.hasPrefix("POST") ? .post : .patch
                let headers = Self.key("k\(index)")
                let first = await api.call(method, named(target), named(body), headers: headers)
                #expect((200...299).contains(first.status), "\(operation): \(first.text)")
                let repeated = await api.call(method, named(target), named(body), headers: headers)
                #expect(repeated.status == first.status && repeated.bytes == first.bytes, "\(operation)")
                #expect(repeated.header("Idempotency-Replayed") == "true", "\(operation): \(repeated.text)")
            }
        }
    }

    @Test("is declared and honored, or refused, by every POST and PATCH but those that store nothing")
    func everyRoute() async throws {
        try await APIFixture.run { api in
            let description = try Description()
            var declared: Set<String> = []
            var left: Set<String> = []
            for operation in description.operations where ["post", "patch"].contains(operation.method) {
                let name = "\(operation.method.uppercased()) \(operation.path)"
                if description.parameterNames(of: operation).contains("Idempotency-Key") {
                    declared.insert(name)
                    continue
                }
                let answer = await api.call(
                    .post, operation.path.replacing(/\{[a-z]+\}/, with: "x"), "{}", headers: Self.key("k"))
                if answer.code != "bad_idempotency_key" { left.insert(name) }
            }
            #expect(left == Self.unkeyed)
            #expect(declared == Set(Self.keyed.map(\.operation)).union(Self.ofStreams).union(Self.ofReceivers))
        }
    }

    @Test("keeps a repeat from doing what there was nothing of at first")
    func nothingToDo() async throws {
        try await APIFixture.run { api in
            _ = try await prepare(api)
            _ = await api.call(.put, "/v1/channels/room/members/ana", "{}")
            let first = await api.call(.post, "/v1/users/ana/read-all", headers: Self.key("k"))
            #expect(first.status == 200 && first["channels"]?.count == 0, "\(first.text)")
            _ = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ben"}"#)
            let again = await api.call(.post, "/v1/users/ana/read-all", headers: Self.key("k"))
            #expect(again.bytes == first.bytes && again.header("Idempotency-Replayed") == "true")
            #expect(await api.call(.post, "/v1/users/ana/read-all")["channels"]?.count == 1)
        }
    }

    @Test("of a request that writes no records is free again when that was refused")
    func refusedWithoutRecords() async throws {
        try await APIFixture.run { api in
            let made = try await prepareAll(api)
            let path = "/v1/sources/s/requests/\(made["REQUEST"] ?? "")/replay"
            let mapping = #"{"channel":"in","type":"posted","data":{"$":"body/none"}}"#
            _ = await api.call(.put, "/v1/sources/s", #"{"scheme":"none","mapping":\#(mapping)}"#)
            #expect(await api.call(.post, path, headers: Self.key("k")).status == 422)
            let whole = #"{"scheme":"none","mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#
            let changed = await api.call(.put, "/v1/sources/s", whole)
            #expect(changed.status == 200, "\(changed.text)")
            #expect(await api.call(.post, path, headers: Self.key("k")).status == 202)
            #expect(await api.history("in").count == 2)
        }
    }

    /// A POST by the admin with the key `k`, as the code behind the routes receives it.
    private func keyed(
        _ path: String, _ body: String, _ api: APIFixture
    ) throws -> (request: Request, caller: Caller, key: IdempotencyKey) {
        let headers = Headers([("Authorization", "Bearer \(api.adminKey)"), ("Idempotency-Key", "k")])
        let request = Request(.post, path, headers: headers, body: Array(body.utf8))
        return (request, try api.api.caller(of: request), try #require(try IdempotencyKey(headers)))
    }

    @Test("keeps a request from running again whose answer was lost, also when it writes no records")
    func lostWithoutRecords() async throws {
        try await APIFixture.run { api in
            let made = try await prepareAll(api)
            let path = "/v1/sources/s/requests/\(made["REQUEST"] ?? "")/replay"
            let (request, caller, key) = try keyed(path, "", api)
            // Simulates a gateway that ends after the commit of the event.
            struct End: Error {}
            await #expect(throws: End.self) {
                try await api.api.claims.once(key, request, caller, api.service.answers, isNotedFirst: true) {
                    _ = try await api.api.inbound.receiver.replay(made["REQUEST"] ?? "", of: "s", url: nil, by: caller)
                    throw End()
                }
            }
            api.clock.advance(by: .seconds(61))
            let late = await api.call(.post, path, headers: Self.key("k"))
            #expect(late.status == 409 && late.code == "idempotency_answer_lost", "\(late.text)")
            #expect(await api.history("in").count == 2)
        }
    }

    @Test("whose answer was lost makes nothing a second time, and says so")
    func lostAnswer() async throws {
        try await APIFixture.run { api in
            let body = #"{"channels":["room"]}"#
            let (request, caller, key) = try keyed("/v1/subscriptions", body, api)
            // Simulates a gateway that ends after the commit of the subscription.
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
            // After the window, a repeat is a new request.
            api.clock.advance(by: .seconds(24 * 3600))
            #expect(await api.call(.post, "/v1/subscriptions", body, headers: Self.key("k")).status == 201)
        }
    }

    @Test("whose answer is too large to keep is counted, and is not carried out a second time")
    func largeAnswer() async throws {
        try await APIFixture.run { api in
            let body = #"{"channels":["room"]}"#
            let (request, caller, key) = try keyed("/v1/subscriptions", body, api)
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
}
