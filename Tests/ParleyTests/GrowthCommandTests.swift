import TestSupport
import Testing

@testable import ClientCommands

@Suite("bench growth") struct GrowthCommandTests {
    @Test(
        "rejects wrong options before it sends a request",
        arguments: [
            (
                ["growth", "--pid", "1", "--axes", "bodies"],
                "'bodies' is not a quantity; use one of connections, body,"
            ),
            (["growth", "--pid", "1", "--axes", "body=big"], "'big' is not a size of 'body'; use a whole number."),
            (
                ["growth", "--pid", "1", "--durable"],
                "'growth' has its own requests, stored and not stored; omit --durable"
            ),
            (["strict", "--axes", "body"], "--axes and --svg belong to the scenario 'growth'."),
            (["growth", "--svg", "/nowhere/growth.svg"], "/nowhere/growth.svg cannot be written: No such file"),
            (["growth"], "'growth' measures CPU time; pass the id of the gateway's process with --pid"),
        ] as [([String], String)])
    func options(_ arguments: [String], _ error: String) async throws {
        let gateway = try ScriptedServer { _ in .status(500, "") }
        let run = try await parley(["bench"] + arguments, at: gateway)
        #expect(run.code != 0)
        #expect(run.errors.contains(error), "\(run.errors)")
        #expect(gateway.requests.value.isEmpty)
    }
}
