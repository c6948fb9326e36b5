import ArgumentParser
import ChatModel
import ClientCommands
import Gateway
import Glibc

/// The options for the gateway's settings: the name of the configuration file, and flags that set values. The file is
/// read first, then the environment, then the flags. Later sources take precedence.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A YAML file of settings; default: PARLEY_CONFIG.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The address to listen on; port 0 chooses a free port.", valueName: "host:port"))
    var listen: String?

    @Option(help: ArgumentHelp("The directory of the database; created if missing.", valueName: "dir"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database of a cluster, without a password; used instead of the directory.",
            valueName: "url"))
    var engine: String?

    @Option(help: ArgumentHelp("The NATS servers of a cluster, separated by commas.", valueName: "urls"))
    var bus: String?

    @Flag(help: "Development mode: well-known keys, on a loopback address only.")
    var dev = false

    @Option(
        help: ArgumentHelp(
            "A setting to change; 'parley config print' lists the settings. May be repeated.", valueName: "name=value")
    )
    var set: [String] = []

    func validate() throws {
        for setting in set where !setting.contains("=") {
            throw ValidationError("--set takes NAME=VALUE, not '\(setting)'.")
        }
    }

    /// Loads the settings.
    ///
    /// - Parameter file: the file to read; nil for the file that the options name.
    /// - Throws: a failure for errors in the settings; a usage error when only the flags have errors.
    func load(file other: String? = nil) throws(CommandFailure) -> LoadedConfiguration {
        let environment = CommandEnvironment.current.environment
        var file: (name: String, text: String)?
        if let name = other ?? config ?? environment["PARLEY_CONFIG"], !name.isEmpty {
            file = (name, String(decoding: try InputText.file(name), as: UTF8.self))
        }
        do { return try ConfigurationLoader.load(file: file, environment: environment, flags: flags) } catch {
            throw CommandFailure(error.description, code: areFlagsGood ? 1 : 2)
        }
    }

    private var areFlagsGood: Bool {
        // This call only determines whether the flags are valid. Their error was already reported.
        (try? ConfigurationLoader.load(file: nil, environment: [:], flags: flags)) != nil
    }

    private var flags: [(name: String, value: String)] {
        var flags: [(name: String, value: String)] = set.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        if let listen { flags.append(("listen", listen)) }
        if let data { flags.append(("data", data)) }
        if let engine { flags.append(("engine", engine)) }
        if let bus { flags.append(("bus", bus)) }
        if dev { flags.append(("dev", "true")) }
        return flags
    }
}

/// `parley keys`: manages API keys.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Create, limit and revoke API keys.",
        subcommands: ClientCommands.keys + [Recover.self])

    /// `parley keys recover`: creates a new admin key on the gateway's machine, for an operator who has lost the key.
    struct Recover: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an admin key of the first app. Requires access to the data, but no other key.",
            discussion: """
                parley keys recover --data /var/lib/parley

                For an operator who has lost every admin key. Stop the gateway first, and pass its settings: --data, \
                or --config. A cluster need not be stopped; pass its --engine. The key is shown only once. An entry is \
                written to the audit log.
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
            console.errors.line("created \(recovered.id), an admin key of app '\(SanitizedText.safe(recovered.app))':")
            console.output.line(recovered.text)
        }
    }
}

/// `parley serve`: runs the gateway.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the gateway until SIGTERM or SIGINT.",
        discussion: """
            parley serve --dev
            parley serve --config /etc/parley.yaml --data /var/lib/parley
            parley serve --engine postgres://parley@db1/parley --bus nats://n1,nats://n2

            The gateway logs to the standard error, and prints 'listening on URL' when it is ready. SIGHUP reads the \
            settings again. On SIGTERM or SIGINT it completes work in progress and exits with 0.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // SIGHUP is ignored until the gateway handles it, because a service manager may request a reload immediately
        // after the start.
        signal(SIGHUP, SIG_IGN)
        let loaded = try options.load()
        // The environment is read here, because a SIGHUP arrives outside of the command's task.
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
