import JSON
import Locking
import Signing
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

func envelope(_ number: Int, data: String = #"{"n": 1.0}"#) -> String {
    #"{"id":"evt_\#(number)","type":"order.paid","timestamp":"2024-11-24T01:39:05.678901Z","timetoken":"\#(number)","#
        + #""channel":"orders.eu","user":"ana","data":\#(data)}"#
}

private let ready = #"{"event":"stream.ready","data":{"stream":"str_1","cursor":"5","heartbeat_seconds":15}}"# + "\n"

@Suite("listen") struct ListenTests {
    @Test("asks for what was said and prints events for programs as they came")
    func json() async throws {
        let gateway = try ScriptedServer { _ in .stream([ready, "\n", envelope(6) + "\n"], isHeld: true) }
        let run = try await parley(
            "listen", "orders.*", "a", "--type", "order.*", "--filter", "data.n == 1", "--since", "earliest", "--count",
            "1", "--include", "user,member",
            "--json", at: gateway)
        #expect(run.code == 0)
        #expect(run.output == envelope(6) + "\n")
        #expect(run.errors == "listening\n")
        let request = try #require(gateway.requests.value.first)
        #expect(
            request.target
                == "/v1/stream?channel=orders.%2A&channel=a&type=order.%2A&filter=data.n%20%3D%3D%201&include=user%2Cmember&cursor=earliest"
        )
        #expect(request["accept"] == "application/x-ndjson")
        #expect(request["authorization"] == "Bearer test-key")
    }

    @Test("prints events for people on one line, without control characters")
    func people() async throws {
        let event = envelope(6, data: "\"\u{9B}2J\"")
        let gateway = try ScriptedServer { _ in .stream([ready + event + "\n"], isHeld: true) }
        let run = try await parley("listen", "a", "--count", "1", at: gateway)
        #expect(run.output == "2024-11-24 01:39:05.678Z  orders.eu  order.paid  ana  \"\\u{9b}2J\"\n")
    }

    @Test("continues from the last event when the stream breaks")
    func resumes() async throws {
        let gateway = try ScriptedServer { request in
            switch request.number {
            case 0: .stream([ready, envelope(6) + "\n" + envelope(7) + "\n", envelope(8)])
            case 1: .answer(503, "")
            case 2: .close
            default: .stream([ready, envelope(8) + "\n"], isHeld: true)
            }
        }
        let run = try await parley("listen", "a", "--count", "3", "--json", at: gateway)
        #expect(run.code == 0)
        #expect(run.lines == [6, 7, 8].map { envelope($0) })
        #expect(
            gateway.requests.value.map(\.target) == ["/v1/stream?channel=a"]
                + Array(repeating: "/v1/stream?channel=a&cursor=7", count: 3))
        // Each wait is longer, because nothing arrived in between.
        #expect(run.waits == [.milliseconds(375), .milliseconds(750), .milliseconds(1500)])
        #expect(run.errors.contains("listening again"))
    }

    @Test("continues from the stream's start when it breaks before an event")
    func resumesFromReady() async throws {
        let gateway = try ScriptedServer { request in
            request.number == 0 ? .stream([ready]) : .stream([ready, envelope(6) + "\n"], isHeld: true)
        }
        _ = try await parley("listen", "a", "--count", "1", at: gateway)
        #expect(gateway.requests.value.last?.target == "/v1/stream?channel=a&cursor=5")
    }

    @Test("reports missing events, and continues after them")
    func gap() async throws {
        let gap = #"{"event":"stream.gap","data":{"requested":"1","resumed_from":"40","missed":3}}"# + "\n"
        let gateway = try ScriptedServer { request in
            request.number == 0 ? .stream([ready, gap]) : .stream([ready, envelope(41) + "\n"], isHeld: true)
        }
        let run = try await parley("listen", "a", "--since", "1", "--count", "1", at: gateway)
        #expect(run.errors.contains("3 events are missing before the next line"))
        #expect(gateway.requests.value.last?.target == "/v1/stream?channel=a&cursor=40")
    }

    @Test("says that a cursor is ahead of everything, and listens from now on")
    func ahead() async throws {
        let gap = #"{"event":"stream.gap","data":{"requested":"90","resumed_from":"40","missed":"unknown"}}"# + "\n"
        let gateway = try ScriptedServer { _ in .stream([ready, gap, envelope(41) + "\n"], isHeld: true) }
        let run = try await parley("listen", "a", "--since", "90", "--count", "1", at: gateway)
        #expect(run.errors.contains("newer than every event"))
        #expect(!run.errors.contains("missing"))
    }

    @Test("continues from its start, not from the latest event")
    func latest() async throws {
        let gateway = try ScriptedServer { request in
            request.number == 0 ? .stream([ready]) : .stream([ready, envelope(6) + "\n"], isHeld: true)
        }
        _ = try await parley("listen", "a", "--since", "latest", "--count", "1", at: gateway)
        #expect(
            gateway.requests.value.map(\.target) == [
                "/v1/stream?channel=a&cursor=latest", "/v1/stream?channel=a&cursor=5",
            ])
    }

    @Test("comes back when a draining gateway says so, and not when it says that it is over")
    func farewells() async throws {
        @Sendable func closing(_ reason: String, _ isFinal: Bool) -> String {
            #"{"event":"stream.closing","data":{"reason":"\#(reason)","final":\#(isFinal),"retry_ms":4000}}"# + "\n"
        }
        let gateway = try ScriptedServer { request in
            .stream([ready, request.number == 0 ? closing("draining", false) : closing("unauthorized", true)])
        }
        let run = try await parley("listen", "a", at: gateway)
        #expect(run.code == 1)
        #expect(run.waits == [.seconds(4)])
        #expect(run.errors.contains("the gateway ended the stream: draining; connecting again in 4.0 s"))
        #expect(run.errors.hasSuffix("error: the gateway ended the stream permanently: unauthorized\n"))
    }

    @Test("passes over lines it does not know")
    func unknownLines() async throws {
        let gateway = try ScriptedServer { _ in
            .stream(["{\"x\":1}\nnot json\n[]\n{\"event\":\"stream.new\"}\n", envelope(6) + "\n"], isHeld: true)
        }
        #expect(try await parley("listen", "a", "--count", "1", "--json", at: gateway).output == envelope(6) + "\n")
    }

    @Test("ends when the gateway says the stream is over")
    func over() async throws {
        let gateway = try ScriptedServer { _ in .answer(204, "") }
        let run = try await parley("listen", "a", at: gateway)
        #expect(run.code == 0)
    }

    @Test("fails on a refusal, and on an address without a server")
    func refusal() async throws {
        let gateway = try ScriptedServer { _ in .answer(400, #"{"title":"Bad filter","code":"bad_filter"}"#) }
        let run = try await parley("listen", "a", "--filter", "(", at: gateway)
        #expect(run.code == 1)
        #expect(run.errors == "error: Bad filter (400 bad_filter)\n")
        #expect(gateway.requests.value.count == 1)
        let nobody = try await parley("listen", "a", "--url", "http://127.0.0.1:1")
        #expect(nobody.code == 1)
        #expect(nobody.errors.contains("no server accepts connections"))
    }

    @Test("forwards each event signed, and reports the result")
    func forward() async throws {
        let gateway = try ScriptedServer { _ in
            .stream([ready, envelope(6) + "\n" + envelope(7) + "\n"], isHeld: true)
        }
        let receiver = try ScriptedServer { request in .answer(request.number == 0 ? 204 : 500, "") }
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
        let run = try await parley(
            "listen", "a", "--forward", receiver.baseURL + "/hook", "--secret", secret, "--count", "2", at: gateway)
        #expect(run.code == 0)
        #expect(run.lines.count == 2)
        #expect(run.lines[0].hasPrefix("204  ") && run.lines[0].hasSuffix(" ms  order.paid  evt_6"))
        #expect(run.lines[1].hasPrefix("500  "))
        #expect(run.errors.contains("forwarding to \(receiver.baseURL)/hook, signed with \(secret)"))
        for (number, request) in zip([6, 7], receiver.requests.value) {
            #expect(request.method == "POST")
            #expect(request.target == "/hook")
            #expect(request.text == envelope(number))
            #expect(request["authorization"] == nil, "the key is not the receiver's business")
            #expect(request["webhook-id"] == "evt_\(number)")
            let timestamp = try #require(request["webhook-timestamp"].flatMap { Int64($0) })
            let expected = try StandardSigner([StandardSigningKey(secret)]).signature(
                id: "evt_\(number)", timestamp: timestamp, body: request.body)
            #expect(request["webhook-signature"] == expected)
            #expect(request["webhook-channel"] == "orders.eu")
        }
    }

    @Test("generates a secret when none is given, and continues when the receiver is down")
    func forwardToNobody() async throws {
        let gateway = try ScriptedServer { _ in .stream([ready, envelope(6) + "\n"], isHeld: true) }
        let run = try await parley(
            "listen", "a", "--forward", "http://127.0.0.1:1/", "--count", "1", "--json", at: gateway)
        #expect(run.code == 0)
        #expect(run.errors.contains("signed with whsec_"))
        let outcome = try JSONDocument(Array(run.output.utf8)).root
        #expect(outcome["event"]?.string == "evt_6")
        #expect(outcome["status"]?.isNull == true)
        #expect(outcome["error"]?.string == "connect_refused")
    }
}
