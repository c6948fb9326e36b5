import ChatModel
import HTTPServer
import JSON
import Testing

@Suite("Sending again over HTTP") struct JobRouteTests {
    private static func webhook(_ api: APIFixture) async throws -> String {
        let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["order.*"]}"#)
        let id = try #require(made["id"]?.string)
        // Nothing is sent: deliveries to a disabled webhook are held.
        #expect(await api.call(.post, "/v1/webhooks/\(id)/disable").status == 200)
        return id
    }

    @Test("counts first, then begins a job that can be looked at")
    func replay() async throws {
        try await APIFixture.run { api in
            for _ in 0..<3 {
                #expect(
                    await api.call(.post, "/v1/channels/a/events", #"{"type":"order.paid","data":1}"#).status == 201)
            }
            let id = try await Self.webhook(api)
            let counted = await api.call(.post, "/v1/webhooks/\(id)/replay", #"{"only":"all","dry_run":true}"#)
            #expect(counted.status == 200)
            #expect(counted["count"]?.integer == 3 && counted["count_is_exact"]?.boolean == true)
            #expect(counted["job"]?.isNull == true)
            #expect(await api.call(.get, "/v1/jobs")["data"]?.count == 0)

            let begun = await api.call(.post, "/v1/webhooks/\(id)/replay", #"{"only":"all","rate_per_second":5}"#)
            #expect(begun.status == 202)
            let job = try #require(begun["job"]?.string)
            #expect(begun.header("Location") == "/v1/jobs/\(job)")
            let read = await api.call(.get, "/v1/jobs/\(job)")
            #expect(read["kind"]?.string == "replay" && read["webhook"]?.string == id)
            #expect(read["count"]?.integer == 3 && read["rate_per_second"]?.integer == 5)
            #expect(await api.call(.get, "/v1/jobs")["data"]?.count == 1)
        }
    }

    @Test("names the member or parameter under which a route knows the webhook")
    func otherNames() async throws {
        try await APIFixture.run { api in
            for name in ["webhook", "subscription"] {
                let listed = await api.call(.get, "/v1/deliveries?\(name)=wh_1&limit=1")
                #expect(listed.status == 400 && listed.code == "unknown_parameter", "\(listed.text)")
                #expect(listed["errors"]?[0]?["parameter"]?.string == name)
                #expect(listed["detail"]?.string?.contains("send 'subscriber'") == true, "\(listed.text)")
            }
            for path in ["redrive", "purge"] {
                let refused = await api.call(.post, "/v1/deliveries/\(path)", #"{"subscriber":"wh_1"}"#)
                #expect(refused.status == 400 && refused.code == "unknown_member", "\(refused.text)")
                #expect(refused["errors"]?[0]?["pointer"]?.string == "#/subscriber")
                #expect(refused["detail"]?.string?.contains("send 'webhook'") == true, "\(refused.text)")
            }
        }
    }

    @Test("since the last success of a webhook that never had one begins where the webhook does")
    func sinceNever() async throws {
        try await APIFixture.run { api in
            for _ in 0..<3 {
                _ = await api.call(.post, "/v1/channels/a/events", #"{"type":"order.paid","data":1}"#)
            }
            let id = try await Self.webhook(api)
            _ = await api.call(.post, "/v1/channels/a/events", #"{"type":"order.paid","data":1}"#)
            _ = await api.firstDelivery(of: id)
            let counted = await api.call(
                .post, "/v1/webhooks/\(id)/replay", #"{"since":"last_success","only":"all","dry_run":true}"#)
            #expect(counted["count"]?.integer == 1)
        }
    }

    @Test(
        "is refused without a clear selection",
        arguments: [
            ("/v1/webhooks/WEBHOOK/replay", #"{"only":"some"}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"since":"yesterday"}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"since":"last_success","after":"17000000000000000"}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"filter":"("}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"types":["a*b"]}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"types":["a b"]}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"channels":["a,b.*"]}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"rate_per_second":0}"#, 400),
            ("/v1/webhooks/WEBHOOK/replay", #"{"dryrun":true}"#, 400),
            ("/v1/webhooks/wh_none/replay", "{}", 404),
            ("/v1/deliveries/redrive", #"{"only":"all"}"#, 400),
            ("/v1/deliveries/redrive", #"{"webhook":"wh_none"}"#, 404),
            ("/v1/deliveries/purge", #"{"only":"dead"}"#, 400),
            ("/v1/deliveries/purge", "{}", 400),
            ("/v1/deliveries/purge", #"{"all":false,"webhook":null}"#, 400),
            ("/v1/deliveries/purge", #"{"rate_per_second":5,"dry_run":true}"#, 400),
            ("/v1/jobs/job_none/cancel", "", 404),
        ])
    func refused(_ target: String, _ body: String, _ status: Int) async throws {
        try await APIFixture.run { api in
            let id = try await Self.webhook(api)
            let answer = await api.call(.post, target.replacing("WEBHOOK", with: id), body)
            #expect(answer.status == status)
        }
    }

    @Test(
        "removes every dead delivery of an app only on explicit request",
        arguments: [#"{"all":true}"#, #"{"types":["a"]}"#])
    func purge(_ body: String) async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/deliveries/purge", body).status == 202)
        }
    }

    @Test("shows deliveries from before a webhook's change, and that it has changed since")
    func changed() async throws {
        try await APIFixture.run { api in
            let id = try await Self.webhook(api)
            func emit(_ type: String) async throws -> String {
                let emitted = await api.call(.post, "/v1/channels/a/events", #"{"type":"\#(type)","data":1}"#)
                return try #require(emitted["id"]?.string)
            }
            let told = try await emit("order.paid")
            let untold = try await emit("note.added")
            _ = await api.firstDelivery(of: id)
            #expect(await api.call(.patch, "/v1/webhooks/\(id)", #"{"types":["note.*"]}"#).status == 200)
            func fate(_ event: String) async throws -> JSONValue {
                try #require(await api.call(.get, "/v1/events/\(event)/explain")["webhooks"]?.elements?.first)
            }
            let first = try await fate(told)
            #expect(first["match"]?.boolean == true && first["delivery"]?.isNull == false)
            #expect(first["why"]?.string == "the event matched the webhook's settings when the delivery was created")
            let second = try await fate(untold)
            #expect(second["delivery"]?.isNull == true)
            #expect(
                second["why"]?.string
                    == "the type matches 'note.*', the channel matches '*'; the webhook's settings have changed since the event, and the current settings were checked"
            )
            let later = try await fate(try await emit("note.added"))
            #expect(later["why"]?.string == "the type matches 'note.*', the channel matches '*'")
        }
    }

    @Test("shows the result of an event for every webhook")
    func explained() async throws {
        try await APIFixture.run { api in
            let id = try await Self.webhook(api)
            let emitted = await api.call(.post, "/v1/channels/a/events", #"{"type":"note.added","data":1}"#)
            let event = try #require(emitted["id"]?.string)
            let explained = await api.call(.get, "/v1/events/\(event)/explain")
            let fate = try #require(explained["webhooks"]?.elements?.first)
            #expect(fate["webhook"]?.string == id)
            #expect(fate["match"]?.boolean == false)
            #expect(fate["why"]?.string == "type note.added is not among the webhook's types")
            #expect(fate["delivery"]?.isNull == true)
        }
    }
}
