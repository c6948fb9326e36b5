import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("history") struct HistoryTests {
    static func page(_ request: ReceivedRequest) -> ScriptedReply {
        let events = (0..<2).map { envelope(request.number * 2 + $0) }.joined(separator: ",")
        let next = request.number < 2 ? "\"c\(request.number + 1)\"" : "null"
        return .answer(
            200, #"{"data":[\#(events)],"next_cursor":\#(next),"has_more":\#(request.number < 2),"cursor":"9"}"#)
    }

    @Test("follows the pages to the end when all are wanted")
    func all() async throws {
        let gateway = try ScriptedServer { Self.page($0) }
        let run = try await parley(
            "history", "orders.eu", "--all", "--json", "--type", "order.*", "--user", "ana", "--after", "1", "--before",
            "9",
            "--order", "desc", at: gateway)
        #expect(run.code == 0)
        #expect(run.lines == (0..<6).map { envelope($0) })
        let query = "type=order.%2A&user=ana&after=1&before=9&order=desc&limit=250"
        #expect(
            gateway.requests.value.map(\.target) == [
                "/v1/channels/orders.eu/events?\(query)", "/v1/channels/orders.eu/events?\(query)&cursor=c1",
                "/v1/channels/orders.eu/events?\(query)&cursor=c2",
            ])
    }

    @Test("stops at the limit")
    func limit() async throws {
        let gateway = try ScriptedServer { Self.page($0) }
        let run = try await parley("history", "orders.eu", "--limit", "3", at: gateway)
        #expect(run.lines.count == 3)
        #expect(run.lines[0] == "2024-11-24 01:39:05.678Z  orders.eu  order.paid  ana  {\"n\": 1.0}")
        #expect(gateway.requests.value.map(\.target).map { String($0.suffix(7)) } == ["limit=3", "rsor=c1"])
    }

    @Test("does not go round when the cursor does")
    func roundabout() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[],"next_cursor":"same"}"#) }
        #expect(try await parley("history", "a", "--all", at: gateway).code == 0)
        #expect(gateway.requests.value.count == 2)
    }
}

@Suite("Resources") struct ResourceTests {
    @Test("are listed as a table, or one a line for programs")
    func list() async throws {
        let hooks =
            #"{"id":"wh_1","url":"https://a.example/h","types":["order.*","x"],"channels":["*"],"status":"enabled","last_error":null}"#
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[\#(hooks)],"next_cursor":null}"#) }
        let run = try await parley("webhooks", "list", at: gateway)
        #expect(
            run.lines == [
                "ID    STATUS   HEALTH  LAST ERROR  URL                  TYPES       CHANNELS",
                "wh_1  enabled  ok      -           https://a.example/h  order.*, x  *",
            ])
        #expect(try await parley("webhooks", "list", "--json", at: gateway).lines == [hooks])
    }

    @Test(
        "that are webhooks say how their receiver does",
        arguments: [
            (
                #""status_reason":"the receiver responded that its address is permanently gone (410)""#,
                "the receiver responded that its address is permanently gone (410)"
            ),
            (
                #""circuit":"open","open_until":"2024-11-24T15:04:28.000000Z","failing_since":"2024-11-24T14:04:28.000000Z""#,
                "paused until 2024-11-24 15:04:28.000Z"
            ),
            (#""failing_since":"2024-11-24T14:04:28.000000Z""#, "failing since 2024-11-24 14:04:28.000Z"),
            (#""circuit":"half_open""#, "paused after failures, now one attempt at a time"),
            (#""last_error":{"at":"2024-11-24T14:04:28.000000Z","error":"timeout","status":null}"#, "failing"),
            (#""last_error":null,"circuit":"closed""#, "ok"),
        ])
    func health(_ members: String, _ words: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[{"id":"wh_1",\#(members)}]}"#) }
        let run = try await parley("webhooks", "list", at: gateway)
        #expect(run.lines.last?.contains("  \(words)  ") == true, "\(run.output)")
    }

    @Test("that are apps show their keys, and never the secret one", arguments: [[], ["--json"]])
    func app(_ flags: [String]) async throws {
        let app = #"{"id":"demo","publish_key":"pub-1","subscribe_key":"sub-1","secret_key":"sec-1"}"#
        let gateway = try ScriptedServer { _ in .answer(200, app) }
        let run = try await parley(["apps", "get", "demo"] + flags, at: gateway)
        #expect(run.code == 0)
        #expect(run.output.contains("pub-1") && run.output.contains("sub-1"))
        #expect(!run.output.contains("sec"))
    }

    @Test("that are webhooks have their statistics as a table")
    func stats() async throws {
        let window = #"{"attempts":3,"delivered":1,"failed":2,"p50_ms":4,"p95_ms":8,"p99_ms":null}"#
        let stats = """
            {"webhook":"wh_1","deliveries":{"pending":100000,"dead":2},"counted_up_to":100000,
            "oldest_waiting":{"id":"dlv_1","type":"order.paid"},"circuit":"closed","open_until":null,
            "last_success_at":"2024-11-24T14:04:28.000000Z","last_failure_at":null,"windows":{"5m":\(window)}}
            """
        let gateway = try ScriptedServer { _ in .answer(200, stats) }
        #expect(
            try await parley("webhooks", "stats", "wh_1", at: gateway).lines == [
                "webhook         wh_1", "pending         100000 or more", "dead            2",
                "oldest waiting  dlv_1, order.paid", "circuit         closed", "open until      -",
                "last success    2024-11-24 14:04:28.000Z", "last failure    -", "",
                "LAST  ATTEMPTS  DELIVERED  FAILED  P50 MS  P95 MS  P99 MS",
                "5m    3         1          2       4       8       -",
            ])
    }

    @Test("that are deliveries say when they are attempted, and why not before")
    func schedule() async throws {
        @Sendable func delivery(_ id: String, _ webhook: String, _ due: String) -> String {
            #"{"id":"\#(id)","status":"failed","subscriber":"\#(webhook)","next_attempt_at":\#(due),"reason":null}"#
        }
        let gateway = try ScriptedServer { request in
            if request.target.hasPrefix("/v1/webhooks") {
                let webhook = #"{"id":"wh_1","open_until":"2024-11-24T15:04:28.000000Z"}"#
                return .answer(200, #"{"data":[\#(webhook),{"id":"wh_2","open_until":null}],"next_cursor":null}"#)
            }
            let rows = [
                delivery("dlv_1", "wh_1", #""2024-11-24T15:00:33.000000Z""#),
                delivery("dlv_2", "wh_2", #""2024-11-24T15:00:33.000000Z""#),
                delivery("dlv_3", "sub_1", #""2024-11-24T15:00:33.000000Z""#), delivery("dlv_4", "wh_2", "null"),
            ]
            if request.target == "/v1/deliveries/dlv_1" { return .answer(200, rows[0]) }
            return .answer(200, #"{"data":[\#(rows.joined(separator: ","))],"next_cursor":null}"#)
        }
        let run = try await parley("deliveries", "list", at: gateway)
        let resting = "after 2024-11-24 15:04:28.000Z; deliveries to the receiver are paused"
        #expect(
            zip(run.lines.dropFirst(), [resting, "2024-11-24 15:00:33.000Z", "waits to be pulled", "-"])
                .allSatisfy { $0.hasSuffix($1) }, "\(run.output)")
        let one = try await parley("deliveries", "get", "dlv_1", at: gateway)
        #expect(one.lines.contains { $0.hasPrefix("next_attempt_at") && $0.hasSuffix(resting) }, "\(one.output)")
        let requests = try await parley("deliveries", "list", "--json", at: gateway)
        #expect(requests.lines.count == 4)
        #expect(gateway.requests.value.count { $0.target.hasPrefix("/v1/webhooks") } == 2, "programs get what is there")
    }

    @Test("that are none are told on the error output", arguments: ["webhooks", "sources", "keys", "apps"])
    func empty(_ resource: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[],"next_cursor":null}"#) }
        let run = try await parley(resource, "list", at: gateway)
        #expect(run.code == 0)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("no \(resource)"))
        #expect(try await parley(resource, "list", "--json", at: gateway).errors.isEmpty)
    }

    @Test(
        "are asked for as the API wants it",
        arguments: [
            (["webhooks", "get", "wh_1"], "GET /v1/webhooks/wh_1", ""),
            (["webhooks", "enable", "wh_1"], "POST /v1/webhooks/wh_1/enable", ""),
            (["webhooks", "disable", "wh_1"], "POST /v1/webhooks/wh_1/disable", ""),

            (["webhooks", "delete", "wh/1"], "DELETE /v1/webhooks/wh%2F1", ""),
            (
                ["webhooks", "create", "https://a.example/h", "--type", "order.*", "--channel", "a", "--channel", "b"],
                "POST /v1/webhooks", #"{"url":"https://a.example/h","types":["order.*"],"channels":["a","b"]}"#
            ),
            (
                ["webhooks", "create", "https://a", "--description", "d", "--include", "user,member"],
                "POST /v1/webhooks", #"{"url":"https://a","include":["user","member"],"description":"d"}"#
            ),
            (["deliveries", "get", "dlv_1"], "GET /v1/deliveries/dlv_1", ""),
            (
                ["deliveries", "list", "wh_1", "--status", "dead", "--event", "evt_1"],
                "GET /v1/deliveries?subscriber=wh_1&event=evt_1&status=dead&limit=50", ""
            ),
            (
                ["deliveries", "list", "--type", "a.*", "--channel", "b", "--after", "2030-01-31", "--order", "asc"],
                "GET /v1/deliveries?type=a.%2A&channel=b&after=2030-01-31&order=asc&limit=50", ""
            ),
            (
                ["webhooks", "list", "--status", "pending_verification", "--order", "desc"],
                "GET /v1/webhooks?status=pending_verification&order=desc&limit=250", ""
            ),
            (["jobs", "list", "--state", "done", "--before", "17"], "GET /v1/jobs?state=done&before=17&limit=250", ""),
            (["keys", "list", "--order", "desc"], "GET /v1/keys?order=desc&limit=250", ""),
            (["deliveries", "retry", "dlv_1"], "POST /v1/deliveries/dlv_1/retry", ""),
            (
                ["deliveries", "redrive", "wh_1", "--type", "a.*", "--rate", "5", "--dry-run"],
                "POST /v1/deliveries/redrive",
                #"{"webhook":"wh_1","only":"dead","types":["a.*"],"rate_per_second":5,"dry_run":true}"#
            ),
            (["deliveries", "purge", "--before", "17"], "POST /v1/deliveries/purge", #"{"before":"17"}"#),
            (["deliveries", "purge", "--all"], "POST /v1/deliveries/purge", #"{"all":true}"#),
            (
                ["webhooks", "replay", "wh_1", "--only", "all", "--since-last-success"],
                "POST /v1/webhooks/wh_1/replay", #"{"only":"all","since":"last_success"}"#
            ),
            (["webhooks", "stats", "wh_1"], "GET /v1/webhooks/wh_1/stats", ""),
            (["jobs", "get", "job_1"], "GET /v1/jobs/job_1", ""),
            (["jobs", "pause", "job_1"], "POST /v1/jobs/job_1/pause", ""),
            (["sources", "get", "s"], "GET /v1/sources/s", ""),
            (["sources", "delete", "s"], "DELETE /v1/sources/s", ""),
            (["sources", "put", "s", #"{"a": 1}"#], "PUT /v1/sources/s", #"{"a": 1}"#),
            (
                ["sources", "put", "s", "--scheme", "github", "--secret", "x", "--mapping", #"{"channel":"c"}"#],
                "PUT /v1/sources/s", #"{"scheme":"github","secrets":["x"],"mapping":{"channel":"c"}}"#
            ),
            (
                [
                    "keys", "create", "--name", "ci", "--scope", "emit", "--scope", "read", "--channel", "a.*",
                    "--expires-at", "2030-01-01T00:00:00Z",
                ],
                "POST /v1/keys",
                #"{"name":"ci","scopes":["emit","read"],"channels":["a.*"],"expires_at":"2030-01-01T00:00:00Z"}"#
            ),
            (["subscriptions", "get", "sub_1"], "GET /v1/subscriptions/sub_1", ""),
            (["keys", "get", "key_1"], "GET /v1/keys/key_1", ""),
            (["apps", "get", "acme"], "GET /v1/apps/acme", ""),
            (["keys", "delete", "key_1"], "DELETE /v1/keys/key_1", ""),
            (
                ["keys", "create", "--scope", "emit", "--rate-limit", "60/m", "--event-quota", "5/30"], "POST /v1/keys",
                #"{"scopes":["emit"],"rate_limit":{"quantity":60,"window_seconds":60},"event_quota":{"quantity":5,"window_seconds":30}}"#
            ),
            (
                ["keys", "update", "key_1", "--rate-limit", "none"], "PATCH /v1/keys/key_1", #"{"rate_limit":null}"#
            ),
            (["apps", "create", "acme"], "POST /v1/apps", #"{"name":"acme"}"#),
            (
                ["apps", "update", "acme", "--event-quota", "9/d", "--retention-hours", "none"], "PATCH /v1/apps/acme",
                #"{"retention_hours":null,"event_quota":{"quantity":9,"window_seconds":86400}}"#
            ),
            (["apps", "delete", "app_1"], "DELETE /v1/apps/app_1", ""),
        ])
    func requests(_ arguments: [String], _ line: String, _ body: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"id":"x","data":[]}"#) }
        let run = try await parley(arguments, at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        // For people, the listing of deliveries first reads the circuits of the webhooks.
        let request = try #require(gateway.requests.value.first { $0.target != "/v1/webhooks?limit=250" })
        #expect("\(request.method) \(request.target)" == line)
        #expect(request.text == body)
    }

    @Test(
        "that are webhooks are tried, and a try that fails is a failure",
        arguments: [("204", 0), ("500", 1), ("null", 1)])
    func webhookTest(_ status: String, _ code: Int32) async throws {
        let attempt = #"{"status":\#(status),"error":null}"#
        let gateway = try ScriptedServer { _ in .answer(200, attempt) }
        let run = try await parley("webhooks", "test", "wh_1", "--json", at: gateway)
        #expect(run.code == code)
        #expect(run.lines == [attempt])
        #expect(gateway.requests.value.map { "\($0.method) \($0.target)" } == ["POST /v1/webhooks/wh_1/test"])
    }

    @Test("are shown member by member, a log as a table below")
    func show() async throws {
        let delivery =
            #"{"id":"dlv_1","status":"failed","next_attempt_at":null,"attempt_log":[{"at":"t1","status":500,"error":null,"duration_ms":12}]}"#
        let gateway = try ScriptedServer { _ in .answer(200, delivery) }
        let run = try await parley("deliveries", "get", "dlv_1", at: gateway)
        #expect(
            run.lines == [
                "id               dlv_1", "status           failed", "next_attempt_at  -", "",
                "AT  STATUS  ERROR  MESSAGE  DURATION MS", "t1  500     -      -        12",
            ])
        #expect(try await parley("deliveries", "get", "dlv_1", "--json", at: gateway).lines == [delivery])
    }

    @Test("that are gone are confirmed, for programs too")
    func deleted() async throws {
        let gateway = try ScriptedServer { _ in .answer(204, "") }
        #expect(try await parley("keys", "delete", "key_1", at: gateway).output == "deleted key_1\n")
        #expect(
            try await parley("keys", "delete", "key_1", "--json", at: gateway).output
                == #"{"id":"key_1","deleted":true}"# + "\n")
    }

    @Test("that are dead deliveries are removed all at once only on explicit request")
    func purge() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, "{}") }
        let run = try await parley("deliveries", "purge", "--rate", "5", at: gateway)
        #expect(run.code != 0 && run.errors.contains("--all"))
        #expect(gateway.requests.value.isEmpty)
    }

    @Test("read a document from the standard input")
    func standardInput() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, "{}") }
        let run = try await parley("sources", "put", "s", "-", at: gateway, input: "{\n \"scheme\": \"github\"\n}\n")
        #expect(run.code == 0)
        #expect(gateway.requests.value.first?.text == "{\n \"scheme\": \"github\"\n}")
    }

    @Test("are not made twice: a request that is unsafe to repeat fails when it is cut")
    func unsafeRequests() async throws {
        let gateway = try ScriptedServer { _ in .answer(503, #"{"title":"Busy"}"#) }
        let run = try await parley("apps", "create", "acme", at: gateway)
        #expect(run.code == 1)
        #expect(run.errors.hasPrefix("error: Busy (503)"))
        #expect(gateway.requests.value.count == 1)
    }

    @Test("of something that is no gateway are refused with an explanation")
    func notJSON() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, "<html>") }
        let run = try await parley("keys", "list", at: gateway)
        #expect(run.code == 1)
        #expect(run.errors.contains("is not a Parley gateway"))
    }
}
