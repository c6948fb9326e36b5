import ArgumentParser

@testable import ParleyCommands

/// The commands of the program, as argument-parser knows them.
enum CommandTree {
    /// Every command that has none below it, with the words that call it.
    static let leaves = commands(below: ParleyCommand.self, []).filter { $0.command.configuration.subcommands.isEmpty }

    /// Whether every word that stands where a command should is one.
    static func isCommand(_ words: [String]) -> Bool {
        var command: any ParsableCommand.Type = ParleyCommand.self
        for word in words {
            let children = command.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-") else { break }
            guard let child = children.first(where: { $0._commandName == word }) else { return false }
            command = child
        }
        return true
    }

    private static func commands(
        below command: any ParsableCommand.Type, _ path: [String]
    ) -> [(path: String, command: any ParsableCommand.Type)] {
        command.configuration.subcommands.flatMap { child in
            let path = path + [child._commandName]
            return [(path.joined(separator: " "), child)] + commands(below: child, path)
        }
    }
}
