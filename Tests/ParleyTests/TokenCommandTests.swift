import Glibc
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

private let ready = #"{"event":"stream.ready","data":{"stream":"str_1","cursor":"5","heartbeat_seconds":15}}"# + "\n"
private let ended = #"{"event":"stream.closing","data":{"reason":"unauthorized","final":true}}"# + "\n"

@Suite("A command that supplies tokens", .timeLimit(.minutes(1))) struct TokenCommandTests {
    /// A command that prints `token-1`, `token-2` and so on, one for each run.
    private func counting(_ body: (String) async throws -> Void) async throws {
        var name = Array("/tmp/parley-token-XXXXXX".utf8CString)
        close(try #require({ $0 < 0 ? nil : $0 }(mkstemp(&name))))
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        try await body("echo >>\(path); echo token-$(wc -l <\(path))")
    }

    private func shown(_ gateway: ScriptedServer) -> [String] {
        gateway.requests.value.map { $0["authorization"] ?? "none" }
    }

    @Test("is run at the start, and goes before the key")
    func start() async throws {
        try await counting { command in
            let gateway = try ScriptedServer { _ in .answer(200, #"{"data":[],"next_cursor":null}"#) }
            let run = try await parley("history", "a", "--token-command", command, at: gateway)
            #expect(run.code == 0)
            #expect(shown(gateway) == ["Bearer token-1"])
        }
    }

    @Test("is run once more when the gateway refuses the token, also for what is not repeated otherwise")
    func renewal() async throws {
        try await counting { command in
            let gateway = try ScriptedServer { request in
                request["authorization"] == "Bearer token-2" ? .answer(204, "") : .answer(401, #"{"title":"Expired"}"#)
            }
            let run = try await parley("webhooks", "delete", "wh_1", "--token-command", command, at: gateway)
            #expect(run.code == 0, "\(run.errors)")
            #expect(shown(gateway) == ["Bearer token-1", "Bearer token-2"])
            #expect(run.waits == [])
        }
    }

    @Test("is not run again and again for a request that stays refused, whose token is printed nowhere")
    func refused() async throws {
        try await counting { command in
            let gateway = try ScriptedServer { _ in .answer(401, "") }
            for arguments in [["history", "a"], ["listen", "a"]] {
                let run = try await parley(arguments + ["--token-command", command], at: gateway)
                #expect(run.code == 1)
                #expect(run.errors.contains("check the token command"))
                #expect(!run.errors.contains("token-"))
            }
            #expect(shown(gateway) == (1...4).map { "Bearer token-\($0)" })
        }
    }

    @Test("gives a stream whose token has ended another one, which goes on where it was")
    func stream() async throws {
        try await counting { command in
            let gateway = try ScriptedServer { request in
                switch request.number {
                case 0: .stream([ready, envelope(6) + "\n", ended])
                case 1: .answer(401, #"{"title":"The token has expired"}"#)
                default: .stream([ready, envelope(7) + "\n"], isHeld: true)
                }
            }
            let run = try await parley(
                "listen", "a", "--count", "2", "--json", "--token-command", command, at: gateway)
            #expect(run.code == 0)
            #expect(run.lines == [6, 7].map { envelope($0) })
            #expect(shown(gateway) == [1, 1, 2].map { "Bearer token-\($0)" })
            #expect(gateway.requests.value.last?.target == "/v1/stream?channel=a&cursor=6")
            #expect(!run.errors.contains("token-"))
        }
    }

    @Test("is tried a few times while a stream waits for a token that counts, and then no more")
    func givingUp() async throws {
        try await counting { command in
            let gateway = try ScriptedServer { request in
                request.number == 0 ? .stream([ready, envelope(6) + "\n", ended]) : .answer(401, "")
            }
            let run = try await parley("listen", "a", "--json", "--token-command", command, at: gateway)
            #expect(run.code == 1)
            #expect(run.lines == [envelope(6)])
            #expect(run.waits.count == 5)
        }
    }

    @Test("ends a stream that is closed for good for another reason than its token")
    func deleted() async throws {
        let closing = #"{"event":"stream.closing","data":{"reason":"deleted","final":true}}"# + "\n"
        let gateway = try ScriptedServer { _ in .stream([ready, closing]) }
        let run = try await parley("listen", "a", "--token-command", "echo t", at: gateway)
        #expect(run.code == 1)
        #expect(gateway.requests.value.count == 1)
    }

    @Test(
        "reports its errors, and nothing of its output",
        arguments: [
            ("echo s3cret; exit 3", "failed: exit code 3"), ("echo s3cret; kill -9 $$", "failed: signal 9"),
            ("true", "printed nothing"), ("echo s3cret two", "printed something else"),
            ("echo s3cret; echo two", "printed something else"),
            ("echo s3cret; head -c 20000 /dev/zero | tr '\\0' x", "printed something else"),
            ("/no/such/program", "failed: exit code 127"),
        ])
    func faults(_ line: String, _ words: String) async throws {
        let failure = await #expect(throws: CommandFailure.self) { try await TokenCommand(line).run() }
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("s3cret") == false)
    }

    @Test("is ended when it takes too long, whether it prints or has closed its output", arguments: ["", "exec >&-; "])
    func timeout(_ before: String) async throws {
        let command = TokenCommand(before + "exec sleep 600", timeout: .milliseconds(200))
        let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
        #expect(failure?.message.contains("took longer than") == true)
    }

    @Test("is run once for all concurrent requests")
    func together() async throws {
        try await counting { line in
            let credential = Credential(TokenCommand(line))
            let tokens = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<20 { group.addTask { try? await credential.current() } }
                return await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(tokens == ["token-1"])
            let known = try await credential.renewed(after: "token-0")
            let renewed = try await credential.renewed(after: "token-1")
            #expect(known == "token-1" && renewed == "token-2")
        }
    }
}
