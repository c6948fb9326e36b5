import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("emit") struct EmitTests {
    static func accepted(_ request: ReceivedRequest) -> ScriptedReply {
        let events = (try? JSONDocument(request.body).root["events"]?.elements) ?? []
        let results = events.enumerated().map { index, event in
            event["type"]?.string == "bad"
                ? ##"{"status":422,"problem":{"title":"Refused","code":"schema_violation","errors":[{"pointer":"#/a","detail":"is bad"}]}}"##
                : #"{"status":201,"id":"evt_\#(index)","timetoken":"\#(index)"}"#
        }
        return .answer(200, #"{"results":[\#(results.joined(separator: ","))]}"#)
    }

    @Test("posts one event with all its options")
    func one() async throws {
        let gateway = try ScriptedServer { _ in .answer(201, #"{"id":"evt_7","timetoken":"7","duplicate":false}"#) }
        let run = try await parley(
            "emit", "orders/eu", #"{"amount": 1.10}"#, "--type", "order.paid", "--user", "ana", "--meta",
            #"{"l":"en"}"#,
            "--ttl-hours", "24", "--ephemeral", at: gateway)
        #expect(run.code == 0)
        #expect(run.output == "emitted evt_7 to orders/eu\n")
        let request = try #require(gateway.requests.value.first)
        #expect(request.method == "POST")
        #expect(request.target == "/v1/channels/orders%2Feu/events")
        #expect(request["authorization"] == "Bearer test-key")
        #expect(request["content-type"] == "application/json")
        #expect(request["idempotency-key"]?.hasPrefix("cli_") == true)
        #expect(
            request.text
                == #"{"type":"order.paid","user":"ana","data":{"amount": 1.10},"meta":{"l":"en"},"store":false,"ttl_hours":24}"#
        )
    }

    @Test("prints the gateway's answer for programs")
    func json() async throws {
        let gateway = try ScriptedServer { _ in .answer(201, "{\"id\":\"evt_7\",\n \"duplicate\":true}") }
        #expect(
            try await parley("emit", "a", "--json", at: gateway).output == "{\"id\":\"evt_7\", \"duplicate\":true}\n")
        #expect(gateway.requests.value.first?.text == #"{"data":{}}"#)
        #expect(
            try await parley("emit", "a", "1", at: gateway).output
                == "emitted evt_7 to a (already emitted by an earlier attempt)\n")
    }

    @Test("explains a refusal and fails")
    func refusal() async throws {
        let gateway = try ScriptedServer { _ in
            .answer(
                403, #"{"title":"Not allowed","detail":"this credential lacks the scope 'emit'","code":"forbidden"}"#)
        }
        let run = try await parley("emit", "a", "1", at: gateway)
        #expect(run.code == 1)
        #expect(run.errors == "error: Not allowed: this credential lacks the scope 'emit' (403 forbidden)\n")
        #expect(gateway.requests.value.count == 1, "a refusal is not asked for again")
    }

    @Test(
        "repeats a cut request with the same key",
        arguments: [ScriptedReply.close, .answer(503, "", headers: [("Retry-After", "2")])])
    func repeats(_ trouble: ScriptedReply) async throws {
        let gateway = try ScriptedServer { request in
            request.number < 2 ? trouble : .answer(201, #"{"id":"evt_1"}"#)
        }
        let run = try await parley("emit", "a", "1", at: gateway)
        #expect(run.code == 0)
        #expect(gateway.requests.value.count == 3)
        #expect(Set(gateway.requests.value.map { $0["idempotency-key"] }).count == 1)
        #expect(Set(gateway.requests.value.map(\.text)).count == 1)
        #expect(run.waits.count == 2)
        if case .status = trouble { #expect(run.waits.allSatisfy { $0 == .seconds(2) }) }
    }

    @Test("gives up on a gateway that stays away")
    func givesUp() async throws {
        let gateway = try ScriptedServer { _ in .answer(503, "") }
        let run = try await parley("emit", "a", "1", at: gateway)
        #expect(run.code == 1)
        #expect(gateway.requests.value.count == 6)
    }

    @Test("sends lines in batches, byte for byte and in order")
    func lines() async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let input = (1...1201).map { #"{"n": \#($0).0}"# }.joined(separator: "\n")
        let run = try await parley("emit", "a", "-", "--type", "t", at: gateway, input: input)
        #expect(run.code == 0)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("1201 emitted in "))
        let sizes = try gateway.requests.value.map { try JSONDocument($0.body).root["events"]?.count }
        #expect(sizes == [500, 500, 201])
        #expect(
            gateway.requests.value.allSatisfy {
                $0.target == "/v1/events/batch" && $0.text.hasPrefix(#"{"mode":"each","#)
            })
        #expect(Set(gateway.requests.value.map { $0["idempotency-key"] }).count == 3)
        #expect(gateway.requests.value[2].text.hasSuffix(#"{"channel":"a","type":"t","data":{"n": 1201.0}}]}"#))
    }

    @Test("goes on after lines that are refused, names each, and fails")
    func badLines() async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let input = """
            {"type":"good","data":1}
            not json

            {"type":"bad","data":2}
            [1]
            {"type":"good","user":"bob","data":{"a":1},"meta":{"m":1},"ephemeral":true,"id":"evt_9","channel":"x","included":{}}
            """
        let run = try await parley(
            "emit", "a", "-", "--envelopes", "--user", "ana", "--json", at: gateway, input: input)
        #expect(run.code == 1)
        #expect(run.errors.contains("line 2: not JSON"))
        #expect(run.errors.contains("line 4: Refused (422 schema_violation); #/a: is bad"))
        #expect(run.errors.contains("line 5: not an event"))
        #expect(run.errors.contains("2 emitted, 3 failed"))
        #expect(
            gateway.requests.value.first?.text == #"{"mode":"each","events":["#
                + #"{"channel":"a","type":"good","user":"ana","data":1},{"channel":"a","type":"bad","user":"ana","data":2},"#
                + #"{"channel":"a","type":"good","user":"bob","data":{"a":1},"meta":{"m":1},"store":false}]}"#
        )
        #expect(run.lines.count == 5)
        #expect(run.lines.first == #"{"line":1,"status":201,"id":"evt_0","timetoken":"0"}"#)
        #expect(run.lines.map { try? JSONDocument(Array($0.utf8)).root["line"]?.integer } == [1, 2, 4, 5, 6])
    }

    @Test("copies envelopes as they were, messages and signals by their own requests, in the order of the lines")
    func copies() async throws {
        let gateway = try ScriptedServer { request in
            guard request.target != "/v1/events/batch" else { return Self.accepted(request) }
            guard !request.text.contains("bad") else {
                return .answer(422, #"{"title":"Refused","code":"schema_violation"}"#)
            }
            return .answer(201, #"{"id":"evt_m","timetoken":"\#(request.number)"}"#)
        }
        let place = ##""id":"evt_1","kind":"message","timestamp":"t","timetoken":"1","channel":"x""##
        let input = """
            {"type":"t","data":1,\(place),"schema":{"type":"t","version":1},"cause":"c"}
            {"type":"t","data":2,\(place),"store":false,"ttl_hours":5}
            {"type":"message.created","data":{"text":"hi"},"user":"bob","meta":3,"custom_type":"c",\(place)}
            {"type":"message.created","data":"bad",\(place)}
            {"type":"signal.sent","data":4,"ephemeral":true,\(place)}
            {"type":"t","data":5,\(place),"store":true}
            """
        let run = try await parley("emit", "a/b", "-", "--envelopes", "--json", at: gateway, input: input)
        #expect(run.code == 1)
        #expect(
            gateway.requests.value.map(\.target) == [
                "/v1/events/batch", "/v1/channels/a%2Fb/messages", "/v1/channels/a%2Fb/messages",
                "/v1/channels/a%2Fb/signals", "/v1/events/batch",
            ])
        #expect(
            gateway.requests.value.map(\.text) == [
                #"{"mode":"each","events":[{"channel":"a/b","type":"t","data":1},"#
                    + #"{"channel":"a/b","type":"t","data":2,"store":false,"ttl_hours":5}]}"#,
                #"{"user":"bob","data":{"text":"hi"},"custom_type":"c","meta":3}"#, #"{"data":"bad"}"#, #"{"data":4}"#,
                #"{"mode":"each","events":[{"channel":"a/b","type":"t","data":5,"store":true}]}"#,
            ])
        #expect(Set(gateway.requests.value.map { $0["idempotency-key"] }).count == 5)
        #expect(run.lines[2] == #"{"line":3,"status":201,"id":"evt_m","timetoken":"1"}"#)
        #expect(
            run.lines[3] == #"{"line":4,"status":422,"problem":{"title":"Refused","code":"schema_violation"}}"#)
        #expect(run.errors.contains("line 4: Refused (422 schema_violation)"))
        #expect(run.errors.contains("5 emitted, 1 failed"))
    }

    @Test(
        "refuses an envelope with members it could not copy",
        arguments: [
            (#"{"type":"t","data":1,"dta":2}"#, "'dta' is unknown"),
            (#"{"type":"t","data":1,"custom_type":"c"}"#, "'custom_type' is unknown"),
            (#"{"type":"signal.sent","data":1,"meta":2}"#, "'meta' is unknown"),
            (#"{"type":"t","data":1,"ephemeral":"yes"}"#, "'ephemeral' must be true or false"),
        ])
    func strangeEnvelopes(_ line: String, _ reason: String) async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let run = try await parley("emit", "a", "-", "--envelopes", at: gateway, input: line)
        #expect(run.code == 1)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(gateway.requests.value.isEmpty)
    }

    @Test("counts what was emitted before a request that did not get through")
    func countsBeforeFailure() async throws {
        let gateway = try ScriptedServer { request in
            request.number < 2 ? .answer(201, "{}") : .answer(401, #"{"title":"Key expired"}"#)
        }
        let lines = String(repeating: #"{"type":"message.created","data":1}"# + "\n", count: 5)
        let run = try await parley("emit", "a", "-", "--envelopes", at: gateway, input: lines)
        #expect(run.code == 1)
        #expect(run.errors.contains("stopped after 2 emitted"))
        #expect(gateway.requests.value.count == 3)
    }

    @Test("with several requests under way still sends every line once")
    func parallel() async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let input = (1...5000).map(String.init).joined(separator: "\n")
        let run = try await parley("emit", "a", "-", "--parallel", "4", at: gateway, input: input)
        #expect(run.code == 0)
        let sent = try gateway.requests.value.flatMap {
            try JSONDocument($0.body).root["events"]?.elements?.compactMap { $0["data"]?.integer } ?? []
        }
        #expect(sent.sorted() == Array(1...5000))
    }

    @Test("stops when the gateway refuses the whole request, and says how far it came")
    func stops() async throws {
        let gateway = try ScriptedServer { request in
            request.number == 0 ? Self.accepted(request) : .answer(403, #"{"title":"Key expired"}"#)
        }
        let run = try await parley("emit", "a", "-", at: gateway, input: String(repeating: "1\n", count: 2000))
        #expect(run.code == 1)
        #expect(run.errors.contains("error: Key expired (403)\n  stopped after 500 emitted"))
        #expect(gateway.requests.value.count == 2)
    }

    @Test("keeps a batch within the gateway's limit, however long the lines")
    func weight() async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let line = "\"" + String(repeating: "x", count: 60_000) + "\""
        let tooLong = "\"" + String(repeating: "x", count: 1_100_000) + "\""
        let input = (Array(repeating: line, count: 40) + [tooLong, "1"]).joined(separator: "\n")
        let run = try await parley("emit", "a", "-", at: gateway, input: input)
        #expect(run.code == 1)
        #expect(run.errors.contains("line 41: longer than the maximum size of a request"))
        #expect(run.errors.contains("41 emitted, 1 failed"))
        #expect(gateway.requests.value.allSatisfy { $0.body.count <= 1024 * 1024 })
        #expect(gateway.requests.value.count == 3)
    }

    @Test("shows its progress on a terminal")
    func progress() async throws {
        let gateway = try ScriptedServer { request in Self.accepted(request) }
        let run = try await parley("emit", "a", "-", at: gateway, input: "1\n2\n", isTerminal: true)
        #expect(run.errors.contains("] 100% 2 emitted"))
        #expect(run.errors.contains("\r\u{1B}[K2 emitted in "))
    }

    @Test("reports a gateway that does not answer")
    func nobody() async throws {
        let run = try await parley("emit", "a", "1", "--url", "http://127.0.0.1:1")
        #expect(run.code == 1)
        #expect(run.errors.contains("no server accepts connections at http://127.0.0.1:1"))
        #expect(run.waits.isEmpty)
    }
}
