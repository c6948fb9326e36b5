package import ArgumentParser
import JSON

/// Suggests a command for a mistyped one. The library argument-parser suggests only options, and reports an unknown
/// command as an unexpected argument.
package enum CommandSuggestion {
    /// Checks the words of the command line that name commands.
    ///
    /// - Throws: `CommandFailure` for an unknown command.
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
                    "'\(path) \(word)' is not a command; \(hint ?? "the commands are \(names.joined(separator: ", "))")",
                    code: code)
            }
            command = child
            path += " " + word
        }
    }

    /// Names that other programs use for reading resources, with the names that this program uses.
    private static let readingWords = [
        "show": "get", "view": "get", "describe": "get", "inspect": "get", "info": "get", "read": "get", "cat": "get",
        "status": "get", "get": "get", "ls": "list", "all": "list", "list": "list",
    ]

    /// Returns the command to suggest for an unknown word; nil when no command is similar. A suggestion must not cause
    /// an unintended change, so a command that changes something is suggested only if exactly one letter, not the
    /// first, is wrong.
    package static func suggestion(for word: String, among commands: [any ParsableCommand.Type]) -> String? {
        let reading = commands.filter(isReading).map { $0._commandName }
        if let word = readingWords[word] { return reading.contains(word) ? word : nil }
        let similar = NameSuggester(reading).match(for: word)
        if let similar, similar.mistakes == 1 { return similar.name }
        let typo = commands.filter { !isReading($0) }.map { $0._commandName }
            .first { $0.first == word.first && NameSuggester([$0]).match(for: word)?.mistakes == 1 }
        return typo ?? similar?.name
    }

    /// Returns true when running the command changes nothing. A command with subcommands prints its help.
    package static func isReading(_ command: any ParsableCommand.Type) -> Bool {
        command is any ReadOnlyCommand.Type || !command.configuration.subcommands.isEmpty
    }
}

/// The failure of a command, with a text for the user.
package struct CommandFailure: Error, Equatable {
    /// The failure as one sentence, with the remedy if it is known.
    package var message: String
    /// Further lines: the errors in a document, or the work that was completed before the failure.
    package var details: [String] = []
    /// The exit code: 1, or 2 for wrong usage.
    package var code: Int32 = 1

    package init(_ message: String, details: [String] = [], code: Int32 = 1) {
        self.message = message
        self.details = details
        self.code = code
    }
}

/// The description is logged when a running gateway cannot reload its settings.
extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}

/// A command that changes nothing on the gateway or on this machine. It is suggested for any similar word; other
/// commands are suggested only for a single wrong letter (``CommandSuggestion``).
package protocol ReadOnlyCommand {}
