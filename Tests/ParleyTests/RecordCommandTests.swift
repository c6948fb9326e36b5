import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("Commands of records, messages, types and events") struct RecordCommandTests {
    @Test(
        "ask as the API wants it",
        arguments: [
            (
                ["users", "list", "--filter", "name LIKE 'An*'", "--sort", "name:desc", "--limit", "5"],
                "GET /v1/users?filter=name%20LIKE%20%27An%2A%27&sort=name%3Adesc&limit=5", ""
            ),
            (["users", "get", "a/b"], "GET /v1/users/a%2Fb", ""),
            (
                [
                    "users", "set", "ana", "--name", "Ana", "--custom", #"{"floor":3}"#, "--file",
                    #"{"name":"x","email":null}"#,
                ],
                "PATCH /v1/users/ana", #"{"email":null,"name":"Ana","custom":{"floor":3}}"#
            ),
            (["users", "delete", "ana"], "DELETE /v1/users/ana", ""),
            (["channels", "list", "--limit", "2"], "GET /v1/channels?limit=2", ""),
            (["channels", "get", "crew"], "GET /v1/channels/crew", ""),
            (["channels", "members", "crew"], "GET /v1/channels/crew/members?limit=50", ""),
            (
                ["channels", "create", "crew", "--kind", "group", "--name", "Crew", "--user", "ana", "--user", "ben"],
                "POST /v1/channels", #"{"id":"crew","kind":"group","users":["ana","ben"],"name":"Crew"}"#
            ),
            (
                ["channels", "set", "crew", "--description", "d", "--custom-type", "c"], "PATCH /v1/channels/crew",
                #"{"description":"d","custom_type":"c"}"#
            ),
            (["channels", "delete", "crew"], "DELETE /v1/channels/crew", ""),
            (
                ["messages", "list", "a", "--user", "ana", "--after", "1", "--limit", "3"],
                "GET /v1/channels/a/messages?user=ana&after=1&order=desc&limit=3", ""
            ),
            (["messages", "get", "a", "17"], "GET /v1/channels/a/messages/17", ""),
            (
                ["messages", "send", "a", "hi", "--user", "ana", "--thread-of", "17"], "POST /v1/channels/a/messages",
                #"{"text":"hi","user":"ana","thread_of":"17"}"#
            ),
            (
                ["messages", "delete", "a", "17", "--hard", "--by", "ana"],
                "DELETE /v1/channels/a/messages/17?hard=true&by=ana", ""
            ),
            (
                ["types", "list", "--prefix", "order."], "GET /v1/event-types?prefix=order.&built_in=false&limit=250",
                ""
            ),
            (["types", "list", "--built-in"], "GET /v1/event-types?built_in=true&limit=250", ""),
            (["types", "get", "a.b"], "GET /v1/event-types/a.b", ""),
            (["types", "versions", "a.b"], "GET /v1/event-types/a.b/versions?limit=250", ""),
            (["types", "versions", "a.b", "2"], "GET /v1/event-types/a.b/versions/2", ""),
            (
                ["types", "put", "a.b", "--owner", "me", "--mode", "warn", "--retention-hours", "9"],
                "PUT /v1/event-types/a.b", #"{"owner":"me","mode":"warn","retention_hours":9}"#
            ),
            (
                ["types", "add-version", "a.b", #"{"type":"object"}"#, "--dry-run"],
                "POST /v1/event-types/a.b/versions?dry_run=true", #"{"schema":{"type":"object"}}"#
            ),
            (
                [
                    "events", "list", "--channel", "a.*", "--filter", "x", "--type", "t", "--order", "desc", "--limit",
                    "1",
                ],
                "GET /v1/events?channel=a.%2A&filter=x&type=t&order=desc&limit=1", ""
            ),
            (["events", "get", "evt_1"], "GET /v1/events/evt_1", ""),
            (["events", "explain", "evt_1"], "GET /v1/events/evt_1/explain", ""),
        ])
    func requests(_ arguments: [String], _ line: String, _ body: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"id":"x","data":[]}"#) }
        let run = try await parley(arguments, at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        let request = try #require(gateway.requests.value.first)
        #expect("\(request.method) \(request.target)" == line)
        #expect(request.text == body)
    }

    @Test("make a user where there is none, and never replace another client's")
    func missingUser() async throws {
        let gateway = try ScriptedServer { request in
            request.number == 0
                ? .answer(404, #"{"title":"Not found","status":404,"code":"not_found"}"#)
                : .answer(201, #"{"id":"ana"}"#)
        }
        let run = try await parley("users", "set", "ana", "--name", "Ana", at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        let requests = gateway.requests.value
        #expect(requests.map { "\($0.method) \($0.text)" } == [#"PATCH {"name":"Ana"}"#, #"PUT {"name":"Ana"}"#])
        #expect(requests[1]["if-none-match"] == "*")
    }

    @Test("print messages as people read them")
    func messages() async throws {
        let page = """
            {"data":[{"timetoken":"17","timestamp":"t","user":"ana","data":{"text":"hi"},"deleted":null,"thread":{"reply_count":2}},
            {"timetoken":"16","timestamp":"t","user":"ben","data":{"n":1},"deleted":null,"thread":null},
            {"timetoken":"15","timestamp":"t","user":"ben","data":{},"deleted":{"at":"t"},"thread":null}],"next_cursor":null}
            """
        let gateway = try ScriptedServer { _ in .answer(200, page) }
        #expect(
            try await parley("messages", "list", "a", at: gateway).lines == [
                "TIMETOKEN  TIME  USER  TEXT       REPLIES", "17         t     ana   hi         2",
                #"16         t     ben   {"n":1}    -"#, "15         t     ben   (deleted)  -",
            ])
    }

    @Test("print the schema of a version bare, so that it can be written to a file")
    func schema() async throws {
        let version = #"{"type":"a.b","version":2,"schema":{"type": "object"}}"#
        let gateway = try ScriptedServer { _ in .answer(200, version) }
        #expect(try await parley("types", "versions", "a.b", "2", at: gateway).lines == [#"{"type": "object"}"#])
        #expect(try await parley("types", "versions", "a.b", "2", "--json", at: gateway).lines == [version])
    }

    @Test("explain an event receiver by receiver")
    func explain() async throws {
        let answer = """
            {"event":"evt_1","kept":true,"deliveries":[],"would_reach":{"streams":0},"webhooks":[{"webhook":"wh_1","match":true,
            "why":"type by '*'","delivery":{"status":"failed","attempts":2,"next_attempt_at":null}}]}
            """
        let gateway = try ScriptedServer { _ in .answer(200, answer) }
        #expect(
            try await parley("events", "explain", "evt_1", at: gateway).lines == [
                "event  evt_1", "kept   yes", "", "WEBHOOK  MATCH  WHY          DELIVERY  ATTEMPTS  DUE",
                "wh_1     yes    type by '*'  failed    2         -",
            ])
    }

    @Test(
        "say where there are no events",
        arguments: [
            (["history", "nope"], "no events in 'nope': the channel has none"),
            (["history", "nope", "--user", "ana"], "no events match in 'nope'"),
            (["events", "list"], "no events match"),
        ])
    func none(_ arguments: [String], _ words: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[],"next_cursor":null}"#) }
        let run = try await parley(arguments, at: gateway)
        #expect(run.code == 0 && run.output.isEmpty)
        #expect(run.errors.hasPrefix(words), "\(run.errors)")
        #expect(try await parley(arguments + ["--json"], at: gateway).errors.isEmpty)
    }

    @Test("refuse documents that are no objects", arguments: ["[]", "{", "1"])
    func document(_ text: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, "{}") }
        #expect(try await parley("users", "set", "ana", "--file", text, at: gateway).code == 2)
        #expect(gateway.requests.value.isEmpty)
    }
}
