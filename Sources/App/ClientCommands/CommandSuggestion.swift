package import ArgumentParser

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
        let similar = nearest(to: word, in: reading)
        if let similar, distance(similar, word) <= 1 { return similar }
        let typo = commands.filter { !isReading($0) }.map { $0._commandName }
            .first { $0.first == word.first && distance($0, word) == 1 }
        return typo ?? similar
    }

    /// Whether running it changes nothing; a command with commands below it prints its help.
    package static func isReading(_ command: any ParsableCommand.Type) -> Bool {
        command is any ReadOnlyCommand.Type || !command.configuration.subcommands.isEmpty
    }

    /// The most similar name, if it is similar at all: no more than a third of it need be changed.
    package static func nearest(to word: String, in names: [String]) -> String? {
        names.map { (name: $0, distance: distance($0, word)) }
            .filter { $0.distance <= max(2, $0.name.count / 3) && $0.distance < $0.name.count }
            .min { $0.distance < $1.distance }?.name
    }

    /// Levenshtein distance, with exchanged neighbours counting once (optimal string alignment).
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var best = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, before[j - 1] + 1)
                }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[right.count]
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
