import ArgumentParser
import JSON
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("The program") struct ProgramTests {
    @Test(
        "answers wrong usage with 2, and says what was meant",
        arguments: [
            (["lsten"], "did you mean 'parley listen'?"),
            (["webhooks", "lst"], "did you mean 'parley webhooks list'?"),
            (["xyzzy"], "the commands are emit, listen"), (["listen", "a", "--jso"], "Did you mean '--json'?"),
            (["emit"], "'<channel>'"), (["emit", "a", "{"], "the data is not JSON"),
            (["emit", "a", "1", "--meta", "x"], "--meta is not JSON"),
            (["emit", "a", "1", "--ttl-hours=-1"], "--ttl-hours"),
            (["emit", "a", "1", "--envelopes"], "--envelopes"), (["emit", "a", "-", "--parallel", "99"], "--parallel"),
            (["listen", "a", "--secret", "whsec_AAAA"], "--forward"), (["listen", "a", "--count", "0"], "--count"),
            (["listen", "a", "--forward", "localhost:1"], "http://"),
            (["listen", "a", "--forward", "http://localhost:1", "--secret", "whsec_AAAA"], "24 bytes"),
            (["history", "a", "--order", "up"], "'asc' and 'desc'"),
            (["history", "a", "--all", "--limit", "1"], "--limit"),
            (["sources", "put", "s"], "--scheme"), (["sources", "put", "s", "{}", "--scheme", "x"], "--scheme"),
            (["keys", "create", "--scope", "all"], "'emit', 'read', 'manage'"),
            (["keys", "update", "key_1", "--rate-limit", "many"], "--rate-limit <rate>"),
            (["apps", "update", "acme"], "--rate-limit, --event-quota or --retention-hours"),
            (["keys", "list", "--url", "ftp://x"], "http://"),
            (["keys", "list", "--url", "http://u:p@x"], "PARLEY_KEY"),
        ])
    func usage(_ arguments: [String], _ hint: String) async throws {
        let run = try await parley(arguments)
        #expect(run.code == 2)
        #expect(run.errors.contains(hint), "\(run.errors)")
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.output.isEmpty)
    }

    @Test("asks for a key unless the gateway is on this machine")
    func key() async throws {
        let run = try await parley("keys", "list", "--url", "http://parley.example", key: nil)
        #expect(run.code == 2)
        #expect(run.errors.contains("requires a key: set PARLEY_KEY"))
    }

    @Test(
        "helps with 0, on the standard output",
        arguments: [["--help"], ["help", "emit"], [], ["webhooks"], ["--version"]])
    func help(_ arguments: [String]) async throws {
        let run = try await parley(arguments)
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        #expect(!run.output.isEmpty)
    }

    @Test(
        "prints a completion script",
        arguments: [("bash", "complete"), ("zsh", "#compdef parley"), ("fish", "complete -c")])
    func completion(_ shell: String, _ mark: String) async throws {
        let run = try await parley(["--generate-completion-script", shell])
        #expect(run.code == 0)
        #expect(run.output.contains(mark))
    }
}

@Suite("Spelling") struct SpellingTests {
    @Test(
        "proposes no command that acts for a word that reads or is unknown",
        arguments: [
            (["webhooks", "show"], "webhooks get"), (["webhooks", "gt"], "webhooks get"),
            (["sources", "gut"], "sources get"),
            (["sources", "view"], "sources get"), (["apps", "ls"], "apps list"), (["schema", "get"], nil),
            (["webhooks", "send"], nil), (["webhooks", "status"], "webhooks get"), (["jobs", "stop"], nil),
            (["webhooks", "delet"], "webhooks delete"), (["emti"], "emit"), (["lsten"], "listen"),
        ] as [([String], String?)])
    func suggestion(_ arguments: [String], _ command: String?) async throws {
        let run = try await parley(arguments)
        #expect(run.code != 0)
        if let command {
            #expect(run.errors.contains("did you mean 'parley \(command)'?"), "\(run.errors)")
        } else {
            #expect(!run.errors.contains("did you mean"), "\(run.errors)")
        }
    }

    @Test("knows which commands read: every command but these acts")
    func reading() {
        let words: Set = [
            "audit", "bench", "check", "compat", "diff", "doctor", "explain", "get", "history", "infer", "list",
            "listen", "mappings", "members", "preview", "print", "profiles", "pubnub", "requests", "stats",
            "suite", "test", "url", "validate", "versions",
        ]
        for (path, command) in CommandTree.leaves where CommandSuggestion.isReading(command) {
            #expect(words.contains(command._commandName), "\(path)")
        }
        for (path, command) in CommandTree.leaves where !CommandSuggestion.isReading(command) {
            let isReading = ["get", "list", "explain", "preview", "stats", "versions"].contains(command._commandName)
            #expect(!isReading, "\(path)")
        }
    }

    @Test(
        "finds the nearest name",
        arguments: [
            ("lsten", "listen"), ("emti", "emit"), ("hist", nil), ("histroy", "history"), ("webhook", "webhooks"),
            ("key", "keys"), ("deploy", nil), ("", nil),
        ])
    func nearest(_ word: String, _ name: String?) {
        #expect(NameSuggester(["emit", "listen", "history", "webhooks", "keys"]).nearest(to: word) == name)
    }
}

/// The commands of the program, as ArgumentParser lists them.
enum CommandTree {
    /// Every command without subcommands, with the words that call it.
    static let leaves = commands(below: ParleyCommand.self, []).filter { $0.command.configuration.subcommands.isEmpty }

    /// True when every word in the place of a command is a command.
    static func isCommand(_ words: [String]) -> Bool {
        var command: any ParsableCommand.Type = ParleyCommand.self
        for word in words {
            let children = command.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-") else { break }
            guard let child = children.first(where: { $0._commandName == word }) else { return false }
            command = child
        }
        return true
    }

    private static func commands(
        below command: any ParsableCommand.Type, _ path: [String]
    ) -> [(path: String, command: any ParsableCommand.Type)] {
        command.configuration.subcommands.flatMap { child in
            let path = path + [child._commandName]
            return [(path.joined(separator: " "), child)] + commands(below: child, path)
        }
    }
}
