import ArgumentParser
import ClientCommands
import JSON

/// `parley export`: prints the data of another service as lines that `parley import` accepts.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the data of another service as lines of JSON.",
        subcommands: [PubNub.self])

    struct PubNub: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            commandName: "pubnub", abstract: "Export the data of a PubNub keyset.",
            discussion: """
                parley export pubnub --subscribe-key sub-c-1 --publish-key pub-c-1 --secret-key @secret.txt > chat.ndjson

                Exports users, channels, memberships, restrictions, groups, and the history of every channel that \
                these records name, with the actions attached to its messages. Nothing in the keyset is changed. A keyset \
                cannot list channels that have no metadata, no members and no group: name them with --channel or \
                --channels-from. With --state, a later run writes only new data.
                """)

        @OptionGroup var keyset: KeysetOptions

        func run() async throws {
            let commandEnvironment = CommandEnvironment.current
            let console = commandEnvironment.console
            let counts = try await keyset.export(to: LineSink(output: console.output), commandEnvironment).counts
            console.errors.line(
                "\(counts.records) records and \(counts.messages) messages written"
                    + (counts.unreadable > 0
                        ? ", \(counts.unreadable) messages left out because they cannot be imported" : ""))
        }
    }
}

extension KeysetOptions {
    /// Exports the whole keyset.
    func export<Sink: ExportSink>(
        to sink: Sink, _ commandEnvironment: CommandEnvironment
    ) async throws -> KeysetExport<Sink> {
        let access = try access(commandEnvironment)
        let named = try channels()
        do {
            var export = KeysetExport(
                access, parts: Set(KeysetPart.allCases).subtracting(without), channels: named,
                state: try ExportState(path: state, subscribeKey: subscribeKey), sink: sink,
                bar: ProgressBar(on: commandEnvironment.console.errors))
            try await export.run()
            await access.close()
            return export
        } catch {
            await access.close()
            throw error
        }
    }
}

/// A destination that writes each line to the standard output immediately.
struct LineSink: ExportSink {
    let output: Sink

    mutating func write(_ line: JSONText, _ bar: inout ProgressBar) async throws { output.line(line.bytes) }
    mutating func flush(_ bar: inout ProgressBar) async throws {}
}
