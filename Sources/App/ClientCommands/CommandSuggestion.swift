package import ArgumentParser
import JSON

/// Finds the command somebody meant. argument-parser does so for options, but calls an unknown command an unexpected
/// argument.
package enum CommandSuggestion {
    /// - Throws: `CommandFailure` for a word that stands where a command should and is none.
    package static func check(
        _ arguments: [String], against root: any ParsableCommand.Type, code: Int32
    ) throws(CommandFailure) {
        var command = root
        var path = root._commandName
        for word in arguments {
            let children = command.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
            let child = children.first { $0._commandName == word || $0.configuration.aliases.contains(word) }
            guard let child else {
                let names = children.map { $0._commandName }
                let hint = suggestion(for: word, among: children).map { "did you mean '\(path) \($0)'?" }
                throw CommandFailure(
                    "there is no command '\(path) \(word)'; \(hint ?? "there are \(names.joined(separator: ", "))")",
                    code: code)
            }
            command = child
            path += " " + word
        }
    }

    /// Names that other programs use for reading one or all resources, with the names used here.
    private static let readingWords = [
        "show": "get", "view": "get", "describe": "get", "inspect": "get", "info": "get", "read": "get", "cat": "get",
        "status": "get", "get": "get", "ls": "list", "all": "list", "list": "list",
    ]

    /// The command to propose for a word that is none. Whoever follows the proposal must not change anything by it unless that
    /// is what was meant: a command that acts is proposed only when one letter of it is wrong, and not the first.
    package static func suggestion(for word: String, among commands: [any ParsableCommand.Type]) -> String? {
        let reading = commands.filter(isReading).map { $0._commandName }
        if let word = readingWords[word] { return reading.contains(word) ? word : nil }
        let similar = NameSuggester(reading).match(for: word)
        if let similar, similar.mistakes == 1 { return similar.name }
        let typo = commands.filter { !isReading($0) }.map { $0._commandName }
            .first { $0.first == word.first && NameSuggester([$0]).match(for: word)?.mistakes == 1 }
        return typo ?? similar?.name
    }

    /// Whether running it changes nothing; a command with commands below it prints its help.
    package static func isReading(_ command: any ParsableCommand.Type) -> Bool {
        command is any ReadOnlyCommand.Type || !command.configuration.subcommands.isEmpty
    }
}

/// Why a command did not do what it was asked, for the person who typed it.
package struct CommandFailure: Error, Equatable {
    /// One sentence that says what to change where that is known.
    package var message: String
    /// Further lines: the faults of a document, what was done before.
    package var details: [String] = []
    /// 1, or 2 when the command itself was wrong.
    package var code: Int32 = 1

    package init(_ message: String, details: [String] = [], code: Int32 = 1) {
        self.message = message
        self.details = details
        self.code = code
    }
}

/// For the log of a gateway whose settings cannot be read again.
extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}

/// A command that changes nothing, neither on the gateway nor on this machine. Mistyped commands are completed to these; to one
/// that acts only where a single letter was wrong (``CommandSuggestion``).
package protocol ReadOnlyCommand {}
