import ChatModel
import HTTPServer
import JSON
import Signing
import Testing
import Text

@Suite("Webhooks over HTTP") struct WebhookRouteTests {
    private static func make(_ api: APIFixture) async -> Answer {
        await api.call(
            .post, "/v1/webhooks",
            #"{"url":"https://example.com/hook","types":["order.*"],"channels":["orders.*"],"description":"shop"}"#)
    }

    @Test("are made with a secret that is not shown again")
    func making() async throws {
        try await APIFixture.run { api in
            let made = await Self.make(api)
            #expect(made.status == 201)
            #expect(made["secret"]?.string?.hasPrefix("whsec_") == true)
            #expect(made["status"]?.string == "enabled")
            let id = try #require(made["id"]?.string)
            #expect(made.header("Location") == "/v1/webhooks/\(id)")
            let read = await api.call(.get, "/v1/webhooks/\(id)")
            #expect(read["types"]?.strings == ["order.*"])
            #expect(read["secret"] == nil)
            #expect(await api.call(.get, "/v1/webhooks")["data"]?.count == 1)
            let rotated = await api.call(.post, "/v1/webhooks/\(id)/rotate-secret", #"{"overlap_seconds":60}"#)
            #expect(rotated.status == 200)
            #expect(rotated["secret"]?.string != made["secret"]?.string)
            #expect(await api.call(.post, "/v1/webhooks/\(id)/rotate-secret").status == 200)
            #expect(
                await api.call(.post, "/v1/webhooks/\(id)/rotate-secret", #"{"overlap_seconds":604801}"#).status == 400)
        }
    }

    @Test("sign with the secret their receiver knows from another sender")
    func knownSecret() async throws {
        try await APIFixture.run { api in
            let path = "/v1/webhooks/\(try #require(await Self.make(api)["id"]?.string))/rotate-secret"
            let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
            #expect(await api.call(.post, path, #"{"secret":"\#(own)","overlap_seconds":0}"#)["secret"]?.string == own)
            for bad in ["whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"] {
                let refused = await api.call(.post, path, #"{"secret":"\#(bad)"}"#)
                #expect(refused.status == 400 && refused["code"]?.string == "bad_member")
            }
            let made = await api.call(
                .post, "/v1/webhooks", #"{"url":"https://a.example/","secret":"\#(own)"}"#)
            #expect(made.status == 400 && made["errors"]?[0]?["pointer"]?.string == "#/secret", "\(made.text)")
            #expect(made["detail"]?.string?.contains("rotate-secret") == true)
        }
    }

    @Test("are changed at the version the client knows")
    func patching() async throws {
        try await APIFixture.run { api in
            let made = await Self.make(api)
            let id = try #require(made["id"]?.string)
            let tag = try #require(made.header("ETag"))
            let target = "/v1/webhooks/\(id)"
            let patched = await api.call(.patch, target, #"{"description":"till"}"#, headers: [("If-Match", tag)])
            #expect(patched.status == 200)
            #expect(patched["description"]?.string == "till")
            #expect(patched["url"]?.string == "https://example.com/hook")
            let fresh = try #require(patched.header("ETag"))
            #expect(fresh != tag)
            for field in [tag, "\"x\"", "W/\(fresh)", "\"x\", \"y\""] {
                let late = await api.call(.patch, target, #"{"description":"no"}"#, headers: [("If-Match", field)])
                #expect(late.status == 412, "\(field)")
            }
            for field in ["*", "\"x\", \(fresh)"] {
                let good = await api.call(.patch, target, #"{"description":"till"}"#, headers: [("If-Match", field)])
                #expect(good.status == 200, "\(field)")
            }
            // The displayed circuit state may have changed anyway.
            #expect(await api.call(.get, target, headers: [("If-None-Match", fresh)]).status == 200)
            #expect(await api.call(.delete, target, headers: [("If-Match", tag)]).status == 412)
            #expect(await api.call(.delete, target, headers: [("If-Match", fresh)]).status == 204)
            #expect(await api.call(.get, target).status == 404)
        }
    }

    @Test("are enabled and disabled")
    func status() async throws {
        try await APIFixture.run { api in
            let id = try #require(await Self.make(api)["id"]?.string)
            #expect(await api.call(.post, "/v1/webhooks/\(id)/disable")["status"]?.string == "disabled")
            #expect(await api.call(.post, "/v1/webhooks/\(id)/enable")["status"]?.string == "enabled")
        }
    }

    @Test(
        "are refused for addresses inside, unknown members and wrong types",
        arguments: [
            (#"{"url":"http://127.0.0.1/x"}"#, 400), (#"{"url":"https://169.254.169.254/"}"#, 400),
            (#"{"url":7}"#, 400),
            (#"{"url":"https://example.com","typs":["a"]}"#, 400), (#"{}"#, 400), (#"{"url":"#, 400),
        ])
    func refused(_ body: String, _ status: Int) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/webhooks", body)
            #expect(answer.status == status)
            #expect(await api.call(.get, "/v1/webhooks")["data"]?.count == 0)
        }
    }

    @Test("are for the scope manage, and another app's is not there")
    func rights() async throws {
        try await APIFixture.run { api in
            let id = try #require(await Self.make(api)["id"]?.string)
            let emitter = try await api.key([.emit, .read])
            let app = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let foreign = try #require(app["admin_key"]?.string)
            for (method, target) in [
                (HTTPMethod.get, "/v1/webhooks/\(id)"), (.patch, "/v1/webhooks/\(id)"), (.delete, "/v1/webhooks/\(id)"),
                (.post, "/v1/webhooks/\(id)/enable"), (.post, "/v1/webhooks/\(id)/disable"),
                (.post, "/v1/webhooks/\(id)/rotate-secret"), (.post, "/v1/webhooks/\(id)/test"),
            ] {
                let body = method == .patch ? "{}" : ""
                #expect(await api.call(method, target, body, key: emitter).status == 403, "\(method) \(target)")
                #expect(await api.call(method, target, body, key: foreign).status == 404, "\(method) \(target)")
            }
        }
    }
}

extension WebhookRouteTests {
    @Test("beyond a key's reach are neither changed nor their secrets shown by it")
    func reach() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let id = try #require(made["id"]?.string)
            let narrow = try await api.key([.manage], channels: ["orders.*"])
            for (method, target) in [
                (HTTPMethod.patch, "/v1/webhooks/\(id)"), (.delete, "/v1/webhooks/\(id)"),
                (.post, "/v1/webhooks/\(id)/enable"), (.post, "/v1/webhooks/\(id)/disable"),
                (.post, "/v1/webhooks/\(id)/rotate-secret"), (.post, "/v1/webhooks/\(id)/test"),
                (.get, "/v1/webhooks/\(id)"), (.get, "/v1/webhooks/\(id)/stats"),
            ] {
                let answer = await api.call(method, target, method == .patch ? "{}" : "", key: narrow)
                #expect(answer.status == 403, "\(method) \(target): \(answer.text)")
            }
            _ = await api.call(.post, "/v1/webhooks/\(id)/disable")
            _ = await api.call(.post, "/v1/channels/private/events", #"{"data":1}"#)
            let delivery = try #require(await api.firstDelivery(of: id)["data"]?[0]?["id"]?.string)
            #expect(await api.call(.get, "/v1/deliveries/\(delivery)").status == 200)
            #expect(await api.call(.get, "/v1/deliveries/\(delivery)", key: narrow).status == 404)
            #expect(await api.call(.post, "/v1/deliveries/\(delivery)/retry", key: narrow).status == 404)
            #expect(await api.call(.get, "/v1/deliveries", key: narrow)["data"]?.count == 0)
            let source = #"{"scheme":"none","mapping":{"channel":"private","type":"t","data":{"$":"body"}}}"#
            #expect(await api.call(.put, "/v1/sources/wide", source).status == 201)
            #expect(await api.call(.put, "/v1/sources/wide", source, key: narrow).status == 403)
            #expect(await api.call(.delete, "/v1/sources/wide", key: narrow).status == 403)
        }
    }
}

extension WebhookRouteTests {
    @Test("beyond a key's reach tell it neither their address nor their filter")
    func unseen() async throws {
        try await APIFixture.run { api in
            let wide = #"{"url":"https://example.com/secret","filter":"data.salary > 7"}"#
            #expect(await api.call(.post, "/v1/webhooks", wide).status == 201)
            let near = #"{"url":"https://example.com/near","channels":["orders.eu"],"filter":"data.n > 7"}"#
            #expect(await api.call(.post, "/v1/webhooks", near).status == 201)
            let narrow = try await api.key([.manage, .read, .emit], channels: ["orders.*"])
            let listed = await api.call(.get, "/v1/webhooks", key: narrow)["data"]?.elements
            #expect(listed?.map { $0["url"]?.string } == ["https://example.com/near"])
            #expect(await api.call(.get, "/v1/webhooks")["data"]?.count == 2)

            let event = #"{"type":"t","data":{"salary":1,"n":1}}"#
            let emitted = await api.call(.post, "/v1/channels/orders.eu/events", event)
            let explain = "/v1/events/\(try #require(emitted["id"]?.string))/explain"
            let dry = #"{"channel":"orders.eu","type":"t","data":{"salary":1,"n":1}}"#
            for key in [narrow, api.adminKey] {
                let told = [
                    await api.call(.get, explain, key: key),
                    await api.call(.post, "/v1/events/validate", dry, key: key),
                ]
                for answer in told {
                    #expect(answer.status == 200)
                    #expect(answer.text.contains("does not match: data.n"))
                    #expect(answer.text.contains("salary > 7") == (key == api.adminKey))
                }
            }
        }
    }
}

@Suite("Deliveries over HTTP") struct DeliveryRouteTests {
    @Test("are listed with what is known of them, filtered by status, webhook and event")
    func listing() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let id = try #require(made["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(id)/disable")
            let event = try #require(await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)["id"]?.string)
            let list = await api.firstDelivery(of: id)
            #expect(await api.call(.get, "/v1/deliveries?event=\(event)")["data"]?.count == 1)
            let delivery = try #require(list["data"]?[0])
            #expect(delivery["status"]?.string == "held")
            #expect(delivery["event"]?.string == event)
            let target = "/v1/deliveries/\(try #require(delivery["id"]?.string))"
            #expect(await api.call(.get, target)["attempt_log"]?.count == 0)
            #expect(await api.call(.post, target + "/retry").status == 202)
            #expect(await api.call(.get, "/v1/deliveries?status=dead")["data"]?.count == 0)
            #expect(await api.call(.get, "/v1/deliveries?status=lost").status == 400)
            #expect(await api.call(.get, "/v1/deliveries?event=7").status == 400)
            #expect(await api.call(.get, "/v1/deliveries?cursor=x").status == 400)
            #expect(await api.call(.get, "/v1/deliveries/dlv_none").status == 404)
        }
    }
}

@Suite("Sources over HTTP") struct SourceRouteTests {
    private static let settings =
        #"{"scheme":"github","secrets":["topsecret"],"mapping":{"channel":"repos.{body/repository/name}","type":"github.{header/X-GitHub-Event}","user":"{body/sender/login}","data":{"$":"body"}}}"#
    private static let body = #"{"repository":{"name":"parley"},"sender":{"login":"ana"},"n":1.0}"#

    private static func signed(_ body: String, delivery: String = "d1") -> [(name: String, value: String)] {
        let code = MessageAuthentication.code(.sha256, of: Array(body.utf8), key: Secret(text: "topsecret"))
        return [
            ("X-Hub-Signature-256", "sha256=" + Hex.encode(code)), ("X-GitHub-Event", "push"),
            ("X-GitHub-Delivery", delivery),
        ]
    }

    @Test("turn a signed post into an event, once per delivery")
    func post() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.put, "/v1/sources/github-main", Self.settings)
            #expect(made.status == 201)
            #expect(made.header("Location") == "/v1/sources/github-main")
            #expect(!made.text.contains("topsecret"))
            let answer = await api.call(.post, "/in/github-main", Self.body, key: nil, headers: Self.signed(Self.body))
            #expect(answer.status == 202)
            #expect(answer["accepted"]?.integer == 1)
            let id = try #require(answer["events"]?[0]?["id"]?.string)
            let event = await api.call(.get, "/v1/events/\(id)")
            #expect(event["channel"]?.string == "repos.parley")
            #expect(event["type"]?.string == "github.push")
            #expect(event["user"]?.string == "ana")
            #expect(event.text.contains(#""data":\#(Self.body)"#))
            let again = await api.call(.post, "/in/github-main", Self.body, key: nil, headers: Self.signed(Self.body))
            #expect(again["events"]?[0]?["duplicate"]?.boolean == true)
            #expect(again["events"]?[0]?["id"]?.string == id)
            #expect(await api.history("repos.parley").count == 1)
            let origin = await api.call(.get, "/v1/events/\(id)/explain")["origin"]
            #expect(origin?["kind"]?.string == "source" && origin?["source"]?.string == "github-main")
            let logged = await api.call(.get, "/v1/sources/github-main/requests")["data"]?.elements ?? []
            #expect(logged.last?["id"]?.string == origin?["request"]?.string)
            // No client can claim this id: request ids contain no slash.
            let header = [(name: "X-Request-Id", value: "in/github-main/req_1")]
            let other = await api.call(
                .post, "/v1/channels/a/events", #"{"type":"x","data":1}"#, headers: header)
            let named = try #require(other["id"]?.string)
            #expect(await api.call(.get, "/v1/events/\(named)/explain")["origin"]?.isNull == true)
        }
    }

    @Test("refuse a wrong signature with 401 and store nothing")
    func forged() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/sources/s", Self.settings)
            for headers in [[], Self.signed(Self.body + " ")] {
                let answer = await api.call(.post, "/in/s", Self.body, key: nil, headers: headers)
                #expect(answer.status == 401)
                #expect(answer.code == "signature_invalid")
                #expect(answer.header("WWW-Authenticate") != nil)
            }
            #expect(await api.history("repos.parley").isEmpty)
            #expect(await api.call(.post, "/in/none", Self.body, key: nil).status == 404)
        }
    }

    @Test("show what a post would become, to their owner")
    func trial() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/sources/s", Self.settings)
            let headers = Self.signed(Self.body).map { "\(quoted($0.name)):\(quoted($0.value))" }.joined(separator: ",")
            let good = await api.call(
                .post, "/v1/sources/s/test", #"{"headers":{\#(headers)},"body":\#(quoted(Self.body))}"#)
            #expect(good.status == 200)
            #expect(good["verified"]?.boolean == true)
            #expect(good["events"]?[0]?["channel"]?.string == "repos.parley")
            #expect(good["events"]?[0]?["valid"]?.boolean == true)
            let bad = await api.call(
                .post, "/v1/sources/s/test", #"{"headers":{"X-GitHub-Event":"push"},"body":"{}"}"#)
            #expect(bad["verified"]?.boolean == false)
            #expect((bad["errors"]?.count ?? 0) > 0)
            #expect(await api.history("repos.parley").isEmpty)
        }
    }

    private func quoted(_ text: String) -> String { JSONText(string: text).description }

    @Test("have ids that are unique in their app, and versions")
    func identity() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.put, "/v1/sources/s", Self.settings)
            let tag = try #require(made.header("ETag"))
            let app = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let foreign = try #require(app["admin_key"]?.string)
            #expect(await api.call(.get, "/v1/sources/s", key: foreign).status == 404)
            #expect(await api.call(.delete, "/v1/sources/s", key: foreign).status == 404)
            let changed = Self.settings.replacing("repos.", with: "code.")
            #expect(await api.call(.put, "/v1/sources/s", changed, headers: [("If-Match", "\"x\"")]).status == 412)
            #expect(await api.call(.put, "/v1/sources/s", changed, headers: [("If-Match", tag)]).status == 200)
            #expect(await api.call(.get, "/v1/sources")["data"]?.count == 1)
            #expect(await api.call(.delete, "/v1/sources/s").status == 204)
            #expect(await api.call(.put, "/v1/sources/s", Self.settings, key: foreign).status == 201)
        }
    }

    @Test(
        "are refused without a mapping or with an unknown scheme",
        arguments: [
            #"{"scheme":"github","secrets":["x"]}"#, #"{"scheme":"magic","secrets":["x"],"mapping":{}}"#, "[]", "",
        ])
    func refused(_ body: String) async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.put, "/v1/sources/s", body).status == 400)
        }
    }
}
