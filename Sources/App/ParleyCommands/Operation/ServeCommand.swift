import ArgumentParser
import ChatModel
import ClientCommands
import Gateway
import Glibc

/// `parley serve`: the gateway itself.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the gateway until SIGTERM or SIGINT.",
        discussion: """
            parley serve --dev
            parley serve --config /etc/parley.yaml --data /var/lib/parley

            It logs to the standard error; the last line of its start is 'listening on URL'. SIGHUP reads the settings \
            again. On SIGTERM or SIGINT it finishes what is under way and ends with 0.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // Until the gateway listens for it: a service manager may ask for a reload at once.
        signal(SIGHUP, SIG_IGN)
        let loaded = try options.load()
        // Kept for SIGHUP, which comes when no command is being parsed any more.
        let commandEnvironment = CommandEnvironment.current
        do {
            try await GatewayProcess.serve(loaded) { [options] in
                try CommandEnvironment.$current.withValue(commandEnvironment) { try options.load() }
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("the gateway stopped: \((error as? ChatError)?.message ?? "\(error)")")
        }
    }
}
