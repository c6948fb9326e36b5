import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("webhooks") struct WebhookCommandTests {
    @Test("create sends what is given, options over the document")
    func create() async throws {
        let gateway = try ScriptedServer { _ in .answer(201, #"{"id":"wh_1","secret":"whsec_x"}"#) }
        let run = try await parley(
            "webhooks", "create", "https://a.example/h", "--format", "flat", "--header", "X-Key: a:b", "--auth",
            "basic:u:p:w", "--signature", "stripe", "--ordering", "strict", "--batch", "20", "--rate", "2.5",
            "--file", #"{"timeout_seconds":20,"ordering":"none"}"#, at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        let request = try #require(gateway.requests.value.first)
        #expect(request.target == "/v1/webhooks")
        let root = try JSONDocument(request.body).root
        #expect(root["url"]?.string == "https://a.example/h")
        #expect(root["headers"]?["X-Key"]?.string == "a:b")
        #expect(root["auth"]?["password"]?.string == "p:w")
        #expect(root["signatures"]?.strings == ["stripe"])
        #expect(root["ordering"]?.string == "strict")
        #expect(root["batch"]?["max_events"]?.integer == 20)
        #expect(root["rate_per_second"]?.double == 2.5)
        #expect(root["timeout_seconds"]?.integer == 20)
        #expect(root["types"] == nil)
    }

    @Test(
        "change, verify and rotate as the API wants it",
        arguments: [
            (["update", "wh_1", "--filter", "a == 1"], "PATCH /v1/webhooks/wh_1", #"{"filter":"a == 1"}"#),
            (["verify", "wh_1"], "POST /v1/webhooks/wh_1/verify", ""),
            (["rotate-secret", "wh_1"], "POST /v1/webhooks/wh_1/rotate-secret", "{}"),
            (
                ["rotate-secret", "wh_1", "--secret", "whsec_x"], "POST /v1/webhooks/wh_1/rotate-secret",
                #"{"secret":"whsec_x"}"#
            ),
            (
                ["rotate-secret", "wh_1", "--overlap", "60"], "POST /v1/webhooks/wh_1/rotate-secret",
                #"{"overlap_seconds":60}"#
            ),
            (["rotate-signing-key", "--overlap", "0"], "POST /v1/signing-key/rotate", #"{"overlap_seconds":0}"#),
            (
                ["update", "wh_1", "--retry", "5, 60", "--timeout", "9", "--concurrency", "3"],
                "PATCH /v1/webhooks/wh_1",
                #"{"concurrency":3,"timeout_seconds":9,"retry":{"delays_seconds":[5,60]}}"#
            ),
            (["update", "wh_1", "--retry", ""], "PATCH /v1/webhooks/wh_1", #"{"retry":{"delays_seconds":[]}}"#),
            (["enable", "wh_1", "--discard"], "POST /v1/webhooks/wh_1/enable", #"{"held":"dead"}"#),
        ])
    func requests(arguments: [String], line: String, body: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"id":"wh_1","status":"enabled"}"#) }
        let run = try await parley(["webhooks"] + arguments, at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        let request = try #require(gateway.requests.value.first)
        #expect("\(request.method) \(request.target)" == line)
        #expect(request.text == body)
    }

    @Test("preview shows the request as it would go out")
    func preview() async throws {
        let gateway = try ScriptedServer { _ in
            .answer(
                200,
                #"{"method":"POST","url":"https://a.example/h","headers":[["webhook-id","evt_1"]],"body":"{\"a\":1}"}"#)
        }
        let run = try await parley("webhooks", "preview", "wh_1", "--event", "evt_1", at: gateway)
        #expect(run.lines == ["POST https://a.example/h", "webhook-id: evt_1", "", #"{"a":1}"#])
        #expect(gateway.requests.value.first?.text == #"{"event":"evt_1"}"#)
        #expect(try await parley("webhooks", "preview", "wh_1", at: gateway).code != 0)
    }

    @Test("create refuses invalid headers and credentials", arguments: [["--header", "x"], ["--auth", "token"]])
    func refused(arguments: [String]) async throws {
        let gateway = try ScriptedServer { _ in .answer(201, "{}") }
        #expect(try await parley(["webhooks", "create", "https://a.example/h"] + arguments, at: gateway).code == 2)
        #expect(gateway.requests.value.isEmpty)
    }
}
