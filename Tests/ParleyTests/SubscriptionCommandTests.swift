import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("subscriptions") struct SubscriptionCommandTests {
    private static func pulled(_ number: Int) -> String {
        #"{"ack_id":"a\#(number)","attempt":1,"event":\#(envelope(number))}"#
    }

    @Test("are made with what was asked for, and nothing else")
    func create() async throws {
        let gateway = try ScriptedServer { _ in .answer(201, #"{"id":"sub_1","types":["order.*"]}"#) }
        let run = try await parley(
            "subscriptions", "create", "--type", "order.*", "--ordering", "per_channel", "--ack-deadline", "60",
            "--json",
            at: gateway)
        #expect(run.lines == [#"{"id":"sub_1","types":["order.*"]}"#])
        #expect(gateway.requests.value.map(\.target) == ["/v1/subscriptions"])
        #expect(
            gateway.requests.value[0].text
                == #"{"types":["order.*"],"ack_deadline_seconds":60,"ordering":"per_channel"}"#)
    }

    @Test("print what is pulled, and acknowledge it when asked")
    func pull() async throws {
        let gateway = try ScriptedServer { request in
            request.target.hasSuffix("/ack")
                ? .answer(200, #"{"data":[]}"#)
                : .answer(200, #"{"data":[\#(Self.pulled(0)),\#(Self.pulled(1))]}"#)
        }
        let plain = try await parley("subscriptions", "pull", "sub_1", "--json", at: gateway)
        #expect(plain.lines == [Self.pulled(0), Self.pulled(1)])
        #expect(gateway.requests.value.map(\.target) == ["/v1/subscriptions/sub_1/pull"])
        let acked = try await parley("subscriptions", "pull", "sub_1", "--ack", at: gateway)
        #expect(acked.lines.count == 2 && acked.lines[0].contains("order.paid"))
        #expect(gateway.requests.value.last?.target == "/v1/subscriptions/sub_1/ack")
        #expect(gateway.requests.value.last?.text == #"{"ack_ids":["a0","a1"]}"#)
    }

    @Test("change only what is given")
    func update() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"id":"sub_1"}"#) }
        _ = try await parley("subscriptions", "update", "sub_1", "--max-outstanding", "7", at: gateway)
        #expect(gateway.requests.value.map(\.method) == ["PATCH"])
        #expect(gateway.requests.value[0].text == #"{"max_outstanding":7}"#)
    }

    @Test(
        "are held longer, acknowledged and given back",
        arguments: [
            (["extend", "sub_1", "a0", "--seconds", "90"], #"{"ack_ids":["a0"],"seconds":90}"#),
            (["ack", "sub_1", "a0"], #"{"ack_ids":["a0"]}"#),
            (["nack", "sub_1", "a0", "--delay", "5"], #"{"ack_ids":["a0"],"delay_seconds":5}"#),
        ])
    func settled(_ line: [String], _ body: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[{"ack_id":"a0","result":"extended"}]}"#) }
        let run = try await parley(["subscriptions"] + line, at: gateway)
        #expect(run.code == 0)
        #expect(gateway.requests.value.map(\.target) == ["/v1/subscriptions/sub_1/\(line[0])"])
        #expect(gateway.requests.value[0].text == body)
    }

    @Test(
        "fail when what was to be acknowledged was lost",
        arguments: [["ack", "sub_1", "a0", "a1"], ["pull", "sub_1", "--ack"]])
    func lost(_ line: [String]) async throws {
        let gateway = try ScriptedServer { request in
            request.target.hasSuffix("/ack")
                ? .answer(200, #"{"data":[{"ack_id":"a0","result":"acknowledged"},{"ack_id":"a1","result":"lost"}]}"#)
                : .answer(200, #"{"data":[\#(Self.pulled(0)),\#(Self.pulled(1))]}"#)
        }
        let run = try await parley(["subscriptions"] + line, at: gateway)
        #expect(run.code == 1)
        #expect(run.errors.contains("1 of 2 deliveries stayed unchanged"))
    }

    @Test("acknowledge nothing when there was nothing")
    func empty() async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[]}"#) }
        #expect(try await parley("subscriptions", "pull", "sub_1", "--ack", at: gateway).lines.isEmpty)
        #expect(gateway.requests.value.count == 1)
    }
}
