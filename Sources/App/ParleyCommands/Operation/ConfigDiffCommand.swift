import ArgumentParser
import ClientCommands
import Gateway
import JSON

/// `parley config diff`: shows the settings that differ from their defaults, or the changes that a reload would apply.
struct ConfigDiffCommand: ParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the settings that differ from the defaults, or from the settings of another file.",
        discussion: """
            parley config diff --config /etc/parley.yaml
            parley config diff --config /etc/parley.yaml --against new.yaml

            With --against, the command prints the settings that the other file would change, and whether a reload \
            (SIGHUP) is enough or a restart is needed. Environment variables and flags apply to both files.
            """)

    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("The file to compare with.", valueName: "file"))
    var against: String?

    @Flag(name: .customLong("json"), help: "Print JSON for programs, one setting per line.")
    var isJSON = false

    func run() throws {
        let loaded = try options.load()
        let later = try against.map { file throws(CommandFailure) in try options.load(file: file) }
        let differences =
            later.map { loaded.configuration.differences(to: $0.configuration) }
            ?? Configuration().differences(to: loaded.configuration)
        let console = CommandEnvironment.current.console
        for variable in loaded.unknownVariables { console.errors.line("warning: \(SanitizedText.safe(variable))") }
        let output = console.output
        if isJSON {
            for difference in differences { output.line(row(difference, later ?? loaded).bytes) }
            return
        }
        guard !differences.isEmpty else { return output.line("no differences") }
        var table = Table([
            "setting", later == nil ? "default" : "now", later == nil ? "value" : "then", "origin", "by",
        ])
        for difference in differences {
            table.add([
                difference.setting.name, shown(difference.before), shown(difference.after),
                (later ?? loaded).origin(of: difference.setting).rawValue, effect(of: difference),
            ])
        }
        for line in table.lines(output.style) { output.line(line) }
    }

    private func shown(_ text: String) -> String { text.isEmpty ? "-" : text }

    private func effect(of difference: SettingDifference) -> String {
        difference.setting.isReloadable ? "reload" : "restart"
    }

    private func row(_ difference: SettingDifference, _ loaded: LoadedConfiguration) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("name", difference.setting.name)
            writer.member("before", difference.before)
            writer.member("after", difference.after)
            writer.member("origin", loaded.origin(of: difference.setting).rawValue)
            writer.member("by", effect(of: difference))
            writer.endObject()
        }
    }
}
