import FoundationEssentials
import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("The sources command") struct SourceCommandTests {
    @Test(
        "asks as the API wants it",
        arguments: [
            (
                [
                    "sources", "put", "s", "--scheme", "generic", "--option", "header=X-Sig", "--option",
                    "prefix=a=b",
                    "--secret", "x", "--handshake", "meta", "--verify-token", "vt", "--mapping", "{}",
                ],
                "PUT /v1/sources/s",
                #"{"scheme":"generic","scheme_options":{"header":"X-Sig","prefix":"a=b"},"secrets":["x"],"handshake":"meta","verify_token":"vt","mapping":{}}"#
            ),
            (
                ["sources", "test", "s", "--header", "X-A: b: c", "--query", "q=1", "--body", #"{"a":1}"#],
                "POST /v1/sources/s/test",
                #"{"headers":[{"name":"X-A","value":"b: c"}],"query":[{"name":"q","value":"1"}],"body":"{\"a\":1}"}"#
            ),
            (
                ["sources", "test", "s", "--request", "req_1", "--mapping", "[1]"], "POST /v1/sources/s/test",
                #"{"request":"req_1","mapping":[1]}"#
            ),
            (
                ["sources", "requests", "s", "--outcome", "rejected"],
                "GET /v1/sources/s/requests?outcome=rejected&limit=50", ""
            ),
            (["sources", "requests", "s", "req_1"], "GET /v1/sources/s/requests/req_1", ""),
            (["sources", "replay", "s", "req_1"], "POST /v1/sources/s/requests/req_1/replay", ""),
            (["sources", "mappings", "s"], "GET /v1/sources/s/mappings", ""),
        ])
    func requests(_ arguments: [String], _ line: String, _ body: String) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, #"{"id":"x","data":[]}"#) }
        let run = try await parley(arguments, at: gateway)
        #expect(run.code == 0, "\(run.errors)")
        let request = try #require(gateway.requests.value.first)
        #expect("\(request.method) \(request.target)" == line)
        #expect(request.text == body)
    }

    @Test("takes a secret out of a file, without its line break")
    func secretFile() async throws {
        let file = "/tmp/parley-secret-\(UInt64.random(in: 0...UInt64.max))"
        try "from a file\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let gateway = try ScriptedServer { _ in .answer(200, "{}") }
        _ = try await parley("sources", "put", "s", "--scheme", "github", "--secret", "@\(file)", at: gateway)
        #expect(gateway.requests.value.first?.text == #"{"scheme":"github","secrets":["from a file"]}"#)
    }

    @Test("fails where a trial gives mistakes, and shows them")
    func failing() async throws {
        let trial =
            ##"{"verified":true,"events":[],"errors":[{"pointer":"#/data","keyword":"reference","detail":"d"}]}"##
        let gateway = try ScriptedServer { _ in .answer(200, trial) }
        let run = try await parley("sources", "test", "s", "--body", "{}", at: gateway)
        #expect(run.code == 1)
        #expect(run.output.contains("#/data"))
    }

    @Test(
        "refuses missing and contradictory arguments",
        arguments: [
            ["sources", "test", "s"], ["sources", "test", "s", "--request", "r", "--body", "x"],
            ["sources", "test", "s", "--header", "no colon"], ["sources", "put", "s", "{}", "--option", "a=b"],
        ])
    func usage(_ arguments: [String]) async throws {
        let gateway = try ScriptedServer { _ in .answer(200, "{}") }
        #expect(try await parley(arguments, at: gateway).code != 0)
        #expect(gateway.requests.value.isEmpty)
    }
}
