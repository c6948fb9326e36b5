import ArgumentParser

@testable import ParleyCommands

/// The commands of the program, as argument-parser knows them.
enum CommandTree {
    /// Every command that has none below it, with the words that call it.
    static let leaves = commands(below: ParleyCommand.self, []).filter { $0.command.configuration.subcommands.isEmpty }

    /// The command that the first words name, and how many they are; nil where a word stands in place of a command and is none.
    static func command(
        named words: some Collection<String>
    ) -> (command: any ParsableCommand.Type, count: Int)? {
        var command: any ParsableCommand.Type = ParleyCommand.self
        var count = 0
        for word in words {
            let children = command.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-") else { break }
            guard let child = children.first(where: { $0._commandName == word }) else { return nil }
            command = child
            count += 1
        }
        return (command, count)
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
