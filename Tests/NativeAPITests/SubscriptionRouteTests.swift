import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@Suite("Subscriptions over HTTP") struct SubscriptionRouteTests {
    /// Creates a subscription and returns its path.
    private static func make(_ api: APIFixture, _ body: String = #"{"types":["order.*"]}"#) async throws -> String {
        let made = await api.call(.post, "/v1/subscriptions", body)
        #expect(made.status == 201)
        return "/v1/subscriptions/" + (try #require(made["id"]?.string))
    }

    private static func emit(_ api: APIFixture, _ number: Int, channel: String = "orders") async {
        let body = #"{"type":"order.paid","data":{"n":\#(number)}}"#
        #expect(await api.call(.post, "/v1/channels/\(channel)/events", body).status == 201)
    }

    /// Pulls events and returns their ids and numbers.
    private static func pull(
        _ api: APIFixture, _ path: String, _ body: String = #"{"wait_seconds":20}"#, key: String? = nil
    ) async -> (ids: [String], numbers: [Int64], attempts: [Int64]) {
        let answer = await api.call(.post, path + "/pull", body, key: key ?? api.adminKey)
        #expect(answer.status == 200)
        let items = answer["data"]?.elements ?? []
        return (
            items.compactMap { $0["ack_id"]?.string }, items.compactMap { $0["event"]?["data"]?["n"]?.integer },
            items.compactMap { $0["attempt"]?.integer }
        )
    }

    private static func ids(_ ids: [String], _ more: String = "") -> String {
        #"{"ack_ids":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]\#(more)}"#
    }

    private static func results(_ answer: Answer) -> [String] {
        answer["data"]?.elements?.compactMap { $0["result"]?.string } ?? []
    }

    @Test("are made, read, changed at a known version, listed and removed")
    func administration() async throws {
        try await APIFixture.run { api in
            let made = await api.call(
                .post, "/v1/subscriptions",
                #"{"types":["order.*"],"filter":"data.n > 3","ack_deadline_seconds":60,"ordering":"per_channel"}"#)
            #expect(made.status == 201)
            let id = try #require(made["id"]?.string)
            #expect(id.hasPrefix("sub_") && made.header("Location") == "/v1/subscriptions/\(id)")
            #expect(made["max_outstanding"]?.integer == 1000 && made["max_attempts"]?.integer == 10)
            let tag = try #require(made.header("ETag"))
            let path = "/v1/subscriptions/\(id)"
            let read = try #require(await api.call(.get, path).header("ETag"))
            #expect(await api.call(.get, path, headers: [("If-None-Match", read)]).status == 304)
            // Its backlog may have changed anyway.
            #expect(await api.call(.get, path, headers: [("If-None-Match", tag)]).status == 200)
            let changed = await api.call(
                .patch, path, #"{"filter":null,"ack_deadline_seconds":null,"ordering":"strict"}"#,
                headers: [("If-Match", tag)])
            #expect(changed.status == 200 && changed["filter"]?.isNull == true)
            #expect(changed["ack_deadline_seconds"]?.integer == 30 && changed["ordering"]?.string == "strict")
            #expect(changed["types"]?.strings == ["order.*"])
            #expect(await api.call(.patch, path, "{}", headers: [("If-Match", tag)]).status == 412)
            #expect(await api.call(.get, "/v1/subscriptions")["data"]?.count == 1)
            #expect(await api.call(.delete, path).status == 204)
            #expect(await api.call(.get, path).status == 404)
            #expect(await api.call(.post, path + "/pull").status == 404)
        }
    }

    @Test(
        "are refused with unknown members, wrong types and values out of range",
        arguments: [
            #"{"typs":["a"]}"#, #"{"types":"a"}"#, #"{"types":["a.*.b"]}"#, #"{"filter":"("}"#,
            #"{"ack_deadline_seconds":9}"#, #"{"max_outstanding":0}"#, #"{"ordering":"fifo"}"#, #"{"types":[]}"#,
        ])
    func refused(_ body: String) async throws {
        try await APIFixture.run { api in #expect(await api.call(.post, "/v1/subscriptions", body).status == 400) }
    }

    @Test("return matching events once, until acknowledged; an expired id is lost")
    func acknowledging() async throws {
        try await APIFixture.run { api in
            let path = try await Self.make(api)
            for number in 1...3 { await Self.emit(api, number) }
            #expect(await api.call(.post, "/v1/channels/c/events", #"{"type":"other","data":1}"#).status == 201)
            var pulled: [String: Int64] = [:]
            while pulled.count < 3 {
                let (ids, numbers, _) = await Self.pull(api, path)
                for (id, number) in zip(ids, numbers) { pulled[id] = number }
            }
            #expect(pulled.values.sorted() == [1, 2, 3])
            #expect(await Self.pull(api, path, "").ids.isEmpty)
            let first = try #require(pulled.keys.first)
            let acked = await api.call(.post, path + "/ack", Self.ids([first, "nonsense", first]))
            #expect(Self.results(acked) == ["acknowledged", "lost", "lost"])
            let rest = pulled.keys.filter { $0 != first }
            #expect(
                Self.results(await api.call(.post, path + "/ack", Self.ids(rest))) == ["acknowledged", "acknowledged"])
            let listed = await api.call(.get, "/v1/deliveries?status=delivered")
            #expect(listed["data"]?.count == 3)
        }
    }

    @Test("return released deliveries again after their delay, and give up after the last attempt")
    func refusing() async throws {
        try await APIFixture.run { api in
            let path = try await Self.make(api, #"{"max_attempts":2}"#)
            await Self.emit(api, 7)
            let first = await Self.pull(api, path)
            #expect(first.numbers == [7] && first.attempts == [1])
            let answer = await api.call(.post, path + "/extend", Self.ids(first.ids, #","seconds":600"#))
            #expect(Self.results(answer) == ["extended"])
            let back = await api.call(.post, path + "/nack", Self.ids(first.ids, #","delay_seconds":60"#))
            #expect(Self.results(back) == ["returned"])
            #expect(await Self.pull(api, path, "").ids.isEmpty)
            api.clock.advance(by: .seconds(61))
            let second = await Self.pull(api, path)
            #expect(second.numbers == [7] && second.attempts == [2] && second.ids != first.ids)
            #expect(Self.results(await api.call(.post, path + "/ack", Self.ids(first.ids))) == ["lost"])
            #expect(Self.results(await api.call(.post, path + "/nack", Self.ids(second.ids))) == ["returned"])
            let dead = await api.call(.get, "/v1/deliveries?status=dead")
            #expect(dead["data"]?.count == 1)
        }
    }

    @Test("go back in the log and ahead in it")
    func seeking() async throws {
        try await APIFixture.run { api in
            for number in 1...3 { await Self.emit(api, number) }
            let path = try await Self.make(api)
            #expect(await Self.pull(api, path, "").ids.isEmpty, "older than the subscription")
            let back = await api.call(.post, path + "/seek", #"{"to":"earliest"}"#)
            #expect(back["replayed"]?.integer == 3 && back["complete"]?.boolean == true)
            #expect(await Self.pull(api, path, #"{"limit":1}"#).numbers == [1])
            let ahead = await api.call(.post, path + "/seek", #"{"to":"latest"}"#)
            #expect(ahead["skipped"]?.integer == 2 && ahead["replayed"]?.integer == 0)
            #expect(await Self.pull(api, path, "").ids.isEmpty)
            #expect(await api.call(.post, path + "/seek", #"{"to":"tomorrow"}"#).status == 400)
        }
    }

    @Test("are pulled with the scope read, by callers that may read all their events")
    func reach() async throws {
        try await APIFixture.run { api in
            let path = try await Self.make(api, #"{"channels":["orders"]}"#)
            await Self.emit(api, 1)
            let reader = try await api.key([.read], channels: ["orders"])
            #expect(await Self.pull(api, path, key: reader).numbers == [1])
            #expect(await api.call(.get, path, key: reader).status == 403)
            #expect(await api.call(.post, path + "/seek", #"{"to":"latest"}"#, key: reader).status == 403)
            let other = try await api.key([.read], channels: ["news"])
            #expect(await api.call(.post, path + "/pull", key: other).status == 403)
            let emitter = try await api.key([.emit], channels: ["orders"])
            #expect(await api.call(.post, path + "/pull", key: emitter).status == 403)
        }
    }
}
