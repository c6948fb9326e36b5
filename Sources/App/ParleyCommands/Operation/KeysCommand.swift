import ArgumentParser
import ClientCommands
import Gateway

/// `parley keys`: who may ask.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make API keys, hold them to rates, take them back.",
        subcommands: ClientCommands.keys + [Recover.self])

    /// `parley keys recover`: on the gateway's machine, for who is locked out.
    struct Recover: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an admin key of the first app, on the gateway's own machine.",
            discussion: """
                parley keys recover --data /var/lib/parley

                For an operator who has no admin key any more. Stop the gateway first, and give the settings it has: \
                --data, or --config. The key is shown this once. The audit log has an entry of it.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let configuration = try options.load().configuration
            let recovered: RecoveredKey
            do {
                recovered = try await RecoveredKey(configuration)
            } catch {
                throw CommandFailure(String(describing: error))
            }
            let console = CommandEnvironment.current.console
            console.errors.line("made \(recovered.id), an admin key of app '\(SanitizedText.safe(recovered.app))':")
            console.output.line(recovered.text)
        }
    }
}
