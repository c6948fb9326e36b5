package import ArgumentParser
import JSON

/// Suggests a command for a mistyped one. argument-parser suggests options, but reports an unknown command as an
/// unexpected argument.
package enum CommandSuggestion {
    /// - Throws: `CommandFailure` for an unknown word in the place of a command.
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

    /// Returns the command to suggest for an unknown word. A suggestion must not lead to an unintended change: a
    /// command with an effect is suggested only when one letter is wrong, and not the first.
    package static func suggestion(for word: String, among commands: [any ParsableCommand.Type]) -> String? {
        let reading = commands.filter(isReading).map { $0._commandName }
        if let word = readingWords[word] { return reading.contains(word) ? word : nil }
        let similar = NameSuggester(reading).match(for: word)
        if let similar, similar.mistakes == 1 { return similar.name }
        let typo = commands.filter { !isReading($0) }.map { $0._commandName }
            .first { $0.first == word.first && NameSuggester([$0]).match(for: word)?.mistakes == 1 }
        return typo ?? similar?.name
    }

    /// True when running the command changes nothing. A command with subcommands prints its help.
    package static func isReading(_ command: any ParsableCommand.Type) -> Bool {
        command is any ReadOnlyCommand.Type || !command.configuration.subcommands.isEmpty
    }
}

/// The failure of a command, worded for its user.
package struct CommandFailure: Error, Equatable {
    /// One sentence, with the remedy where it is known.
    package var message: String
    /// Further lines: the errors in a document, or what was done before the failure.
    package var details: [String] = []
    /// The exit code: 1, or 2 for wrong usage.
    package var code: Int32 = 1

    package init(_ message: String, details: [String] = [], code: Int32 = 1) {
        self.message = message
        self.details = details
        self.code = code
    }
}

/// Used in the log of a gateway whose settings cannot be read again.
extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}

/// A command that changes nothing, neither on the gateway nor on this machine. Mistyped commands are completed to
/// these. A command with an effect is suggested only when a single letter was wrong (``CommandSuggestion``).
package protocol ReadOnlyCommand {}
