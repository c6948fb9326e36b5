import ArgumentParser
import ChatModel
import ClientCommands

/// The command line program: runs a command and returns an exit code (docs/command-line.md).
public enum ParleyProgram {
    /// Runs one command with the arguments that follow the program's name.
    ///
    /// - Returns: 0 on success, 1 on failure, 2 for wrong usage.
    public static func run(_ arguments: [String]) async -> Int32 {
        await run(arguments, in: .process)
    }

    static func run(_ arguments: [String], in commandEnvironment: CommandEnvironment) async -> Int32 {
        // The commands below `schema` have exit codes of their own: 2 for a rejected schema, and 1 for wrong usage, as
        // for any failure.
        let usageCode: Int32 = ClientCommands.usageCode(for: arguments)
        return await CommandEnvironment.$current.withValue(commandEnvironment) {
            do {
                try CommandSuggestion.check(arguments, against: ParleyCommand.self, code: usageCode)
                var command = try ParleyCommand.parseAsRoot(arguments)
                if var waiting = command as? any AsyncParsableCommand {
                    try await waiting.run()
                } else {
                    try command.run()
                }
                return 0
            } catch {
                return report(error, to: commandEnvironment.console, usageCode: usageCode)
            }
        }
    }

    private static func report(_ error: any Error, to console: Console, usageCode: Int32) -> Int32 {
        if let failure = error as? CommandFailure {
            console.errors.line(console.errors.style.bad("error: ") + SanitizedText.safe(failure.message))
            for detail in failure.details { console.errors.line("  " + SanitizedText.safe(detail)) }
            return failure.code
        }
        let text = ParleyCommand.fullMessage(for: error)
        let code = ParleyCommand.exitCode(for: error)
        if code.isSuccess {
            if !text.isEmpty { console.output.line(text) }
            return 0
        }
        let prefix = "Error: "
        let isPrefixed = text.hasPrefix(prefix)
        let rest = isPrefixed ? String(text.dropFirst(prefix.count)) : text
        if !rest.isEmpty { console.errors.line((isPrefixed ? console.errors.style.bad("error: ") : "") + rest) }
        // For wrong usage, argument-parser returns 64 (sysexits.h). The documented code is 2.
        return code == .validationFailure ? usageCode : code.rawValue
    }
}

/// The root command `parley`.
struct ParleyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parley",
        abstract: "A self-hosted chat-event gateway: run it, emit events, and listen to them.",
        discussion: """
            The client commands call the gateway at PARLEY_URL with the API key in PARLEY_KEY. Without these variables \
            they call the gateway saved by 'parley login', or else \(ServerAddress.standard) with the key 'dev' of dev \
            mode. PARLEY_TOKEN_COMMAND, or --token-command, is a command that prints a token to use instead of a key; \
            it is run again when the token has expired. With --json the commands print JSON for programs, one value \
            per line. Colours are used on a terminal unless NO_COLOR is set.

            Exit codes: 0 success, 1 failure, 2 wrong usage. 'parley schema --help' lists the exit codes of 'schema'.

            Shell completion:
              source <(parley --generate-completion-script bash)
              parley --generate-completion-script zsh > "${fpath[1]}/_parley"
              parley --generate-completion-script fish | source
            """,
        version: Product.version,
        groupedSubcommands: [
            ClientCommands.events, ClientCommands.chat, ClientCommands.resources(keys: KeysCommand.self),
            ClientCommands.access,
            CommandGroup(name: "Moving", subcommands: [ImportCommand.self, ExportCommand.self]),
            ClientCommands.schemas,
            CommandGroup(
                name: "Gateway",
                subcommands: [
                    ServeCommand.self, ConfigCommand.self, DoctorCommand.self, EngineCommand.self, BackupCommand.self,
                    RestoreCommand.self, ClientCommands.bench,
                ]),
        ])
}
