import ArgumentParser
import ClientCommands
import Gateway
import JSON

/// `parley config`: shows and checks the gateway's settings without running it.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the gateway's settings, print or compare them.",
        subcommands: [Check.self, Print.self, ConfigDiffCommand.self, URL.self])

    struct Check: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check whether 'parley serve' would accept these settings.")

        @OptionGroup var options: ConfigurationOptions

        @Flag(name: .customLong("json"), help: "Print JSON for programs.")
        var isJSON = false

        func run() throws {
            let console = CommandEnvironment.current.console
            let loaded: LoadedConfiguration
            do throws(CommandFailure) {
                loaded = try options.load()
                if let first = loaded.unknownVariables.first {
                    throw CommandFailure(
                        SanitizedText.safe(first), details: loaded.unknownVariables.dropFirst().map(SanitizedText.safe))
                }
            } catch {
                if isJSON {
                    let faults = ([error.message] + error.details).joined(separator: "\n")
                    console.output.line(report(error: faults, warnings: []).bytes)
                }
                throw error
            }
            if isJSON { return console.output.line(report(error: nil, warnings: loaded.warnings).bytes) }
            for warning in loaded.warnings { console.errors.line("warning: \(SanitizedText.safe(warning))") }
            let changed = Settings.all.count { loaded.origin(of: $0) != .default }
            console.output.line(
                "\(console.output.style.good("ok")): \(changed) of \(Settings.all.count) settings are set, the others have their defaults"
            )
        }

        private func report(error: String?, warnings: [String]) -> JSONText {
            JSONText { writer in
                writer.beginObject()
                writer.member("valid", error == nil)
                if let error { writer.member("error", error) } else { writer.nullMember("error") }
                writer.member("warnings", warnings)
                writer.endObject()
            }
        }
    }

    struct Print: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every setting with its value, default, unit and origin.",
            discussion:
                "Set a setting in the file, in the environment as PARLEY_NAME with _ for each dot, or with --set.")

        @OptionGroup var options: ConfigurationOptions

        @Flag(name: .customLong("json"), help: "Print JSON for programs, one setting per line.")
        var isJSON = false

        func run() throws {
            let loaded = try options.load()
            let console = CommandEnvironment.current.console
            for variable in loaded.unknownVariables { console.errors.line("warning: \(SanitizedText.safe(variable))") }
            let output = console.output
            let standard = Configuration()
            if isJSON {
                for setting in Settings.all { output.line(row(setting, loaded, standard).bytes) }
                return
            }
            var table = Table(["setting", "value", "default", "unit", "origin", "meaning"])
            for setting in Settings.all {
                let summary = setting.summary + (setting.isReloadable ? " (SIGHUP)" : "")
                table.add([
                    setting.name, shown(setting.text(in: loaded.configuration)), shown(setting.text(in: standard)),
                    shown(setting.unit), loaded.origin(of: setting).rawValue, summary,
                ])
            }
            for line in table.lines(output.style) { output.line(line) }
        }

        private func shown(_ text: String) -> String { text.isEmpty ? "-" : text }

        private func row(_ setting: Setting, _ loaded: LoadedConfiguration, _ standard: Configuration) -> JSONText {
            JSONText { writer in
                writer.beginObject()
                writer.member("name", setting.name)
                writer.member("value", setting.text(in: loaded.configuration))
                writer.member("default", setting.text(in: standard))
                writer.member("unit", setting.unit)
                writer.member("origin", loaded.origin(of: setting).rawValue)
                writer.member("environment", setting.environmentName)
                writer.member("reloadable", setting.isReloadable)
                writer.member("summary", setting.summary)
                writer.endObject()
            }
        }
    }
    struct URL: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the URL at which programs on this machine reach a gateway with these settings.",
            discussion: "For health checks: curl --fail \"$(parley config url)/readyz\"")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            guard let url = try options.load().configuration.localURL else {
                throw CommandFailure("'listen' has port 0: the port is known only while the gateway runs")
            }
            CommandEnvironment.current.console.output.line(url)
        }
    }
}
