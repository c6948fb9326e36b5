import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@Suite("A webhook's form over HTTP") struct WebhookFormRouteTests {
    private static func make(_ api: APIFixture, _ members: String) async -> Answer {
        await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook",\#(members)}"#)
    }

    @Test("is shown without its secrets, and what is shown can be sent back")
    func writeOnly() async throws {
        try await APIFixture.run { api in
            let made = await Self.make(
                api,
                #""headers":{"X-Api-Key":"s3cret"},"auth":{"type":"basic","username":"u","password":"pw0"},"format":"flat""#
            )
            #expect(made.status == 201, "\(made.text)")
            #expect(!made.text.contains("s3cret") && !made.text.contains("pw0"))
            let id = try #require(made["id"]?.string)
            let patched = await api.call(
                .patch, "/v1/webhooks/\(id)",
                #"{"headers":["X-Api-Key"],"auth":{"type":"basic","username":"u"},"description":"x"}"#)
            #expect(patched.status == 200, "\(patched.text)")
            #expect(patched["headers"]?.strings == ["X-Api-Key"])
            #expect(patched["auth"]?["username"]?.string == "u")
        }
    }

    @Test("is previewed for an event of the log and for a made-up one, with secrets masked")
    func preview() async throws {
        try await APIFixture.run { api in
            let made = await Self.make(api, #""format":"cloudevents_binary","headers":{"X-Api-Key":"s3cret"}"#)
            let id = try #require(made["id"]?.string)
            let event = await api.call(
                .post, "/v1/channels/orders.eu/events", #"{"type":"order.paid","data":{"n":1.0}}"#)
            let shown = await api.call(
                .post, "/v1/webhooks/\(id)/preview", #"{"event":"\#(event["id"]?.string ?? "")"}"#)
            #expect(shown.status == 200, "\(shown.text)")
            #expect(shown["body"]?.string == #"{"n":1.0}"#)
            #expect(shown["method"]?.string == "POST")
            #expect(!shown.text.contains("s3cret"))
            let names = shown["headers"]?.elements?.compactMap { $0[0]?.string } ?? []
            #expect(names.contains("ce-id") && names.contains("webhook-signature") && names.contains("X-Api-Key"))
            let sample = await api.call(
                .post, "/v1/webhooks/\(id)/preview", #"{"type":"order.paid","data":{"a":[ 1]}}"#)
            #expect(sample["body"]?.string == #"{"a":[ 1]}"#)
            #expect(await api.call(.post, "/v1/webhooks/\(id)/preview", #"{"type":"order.paid"}"#).status == 400)
            #expect(await api.call(.post, "/v1/webhooks/\(id)/preview", #"{"event":"evt_1"}"#).status == 404)
            let reader = try await api.key([.read])
            let denied = await api.call(.post, "/v1/webhooks/\(id)/preview", #"{"type":"t","data":1}"#, key: reader)
            #expect(denied.status == 403)
        }
    }

    @Test("that cannot represent an event is reported")
    func notComposed() async throws {
        try await APIFixture.run { api in
            let id = try #require(
                await Self.make(api, #""format":"template","template":{"t":"{event/data/x}"}"#)["id"]?.string)
            let shown = await api.call(.post, "/v1/webhooks/\(id)/preview", #"{"type":"t","data":{}}"#)
            #expect(shown.status == 422)
            #expect(shown["code"]?.string == "not_composed")
        }
    }

    @Test("needs the receiver's consent where it says so")
    func consent() async throws {
        try await APIFixture.run { api in
            let made = await Self.make(api, #""verification":"echo""#)
            #expect(made["status"]?.string == "pending_verification")
            let free = try #require(await Self.make(api, #""description":"x""#)["id"]?.string)
            #expect(await api.call(.post, "/v1/webhooks/\(free)/verify").status == 409)
        }
    }

    @Test("that signs with the app's key has it in the public key set, which needs no credential")
    func keySet() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/.well-known/jwks.json", key: nil)["keys"]?.count == 0)
            let made = await Self.make(api, #""signatures":["standard","standard_ed25519"]"#)
            let other = await Self.make(api, #""signatures":["standard_ed25519"]"#)
            let id = try #require(made["ed25519_key_id"]?.string)
            #expect(other["ed25519_key_id"]?.string == id)
            #expect(made["ed25519_public_key"]?.string?.hasPrefix("whpk_") == true)
            let set = await api.call(.get, "/.well-known/jwks.json")
            #expect(set["keys"]?.count == 1)
            #expect(set["keys"]?[0]?["kid"]?.string == id)
            #expect(set["keys"]?[0]?["d"] == nil)
            #expect(await api.call(.get, "/.well-known/jwks.json?app=\(api.app.id.name)")["keys"]?.count == 1)
            #expect(await api.call(.get, "/.well-known/jwks.json?app=none")["keys"]?.count == 0)
        }
    }
}
