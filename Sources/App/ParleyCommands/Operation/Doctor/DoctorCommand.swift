import ArgumentParser
import ClientCommands
import Gateway

/// `parley doctor`: checks a gateway and its machine. The gateway may be running or stopped.
struct DoctorCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that a gateway needs, and print a remedy for each fault.",
        discussion: """
            parley doctor --config /etc/parley.yaml
            parley doctor --data ./parley-data --quick

            Run it on the gateway's machine, as its account or as root, whether or not the gateway is running. It \
            changes nothing. Exit code 1 means that something does not work.
            """)

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Skip the check of the whole database for damage.")
    var quick = false

    @Flag(name: .customLong("json"), help: "Print JSON for programs, one finding per line.")
    var isJSON = false

    func run() async throws {
        try CheckReport(isJSON: isJSON).print(await results())
    }

    private func results() async -> [CheckResult] {
        let loaded: LoadedConfiguration
        do throws(CommandFailure) { loaded = try options.load() } catch {
            return [
                CheckResult(
                    "settings", .failure, error.message,
                    advice: "correct the settings, and run the check again; all other checks need valid settings")
            ]
        }
        let checkup = Diagnostics(of: loaded.configuration, isThorough: !quick)
        var findings = [settings(loaded)] + checkup.results()
        findings += await RunningGateway(configuration: loaded.configuration, isServed: checkup.isServed).results()
        return findings
    }

    private func settings(_ loaded: LoadedConfiguration) -> CheckResult {
        let development =
            loaded.configuration.isDevelopment ? ["dev mode uses well-known keys; do not use --dev in production"] : []
        let notes = development + loaded.warnings + loaded.unknownVariables
        guard !notes.isEmpty else { return CheckResult("settings", .ok, "the settings are valid") }
        return CheckResult(
            "settings", .warning, notes.joined(separator: "; "), advice: "'parley config print' shows every setting")
    }
}
