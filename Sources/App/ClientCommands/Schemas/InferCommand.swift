import ArgumentParser
import JSON
import JSONSchema

extension SchemaCommand {
    struct Infer: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draft a schema from documents, one on each line of a file.",
            discussion: """
                parley history orders.eu --all --json | jq -c .data > orders.jsonl
                parley schema infer --instances orders.jsonl > order.json

                The draft accepts every one of them and guesses little; read it before you declare it.
                """)

        @Option(help: ArgumentHelp("The documents, one on each line.", valueName: "file"))
        var instances: String

        @Flag(help: "Refuse members that no document has.")
        var closed = false

        @Option(
            name: .customLong("enum-limit"),
            help: ArgumentHelp("Texts of at most so many different words become an enum; 0 for never.", valueName: "n"))
        var enumLimit = InferenceOptions().enumLimit

        func validate() throws {
            guard enumLimit >= 0 else { throw ValidationError("--enum-limit must be at least 0.") }
        }

        func run() throws {
            let documents = try InstanceLines.read(instances).enumerated().map { index, bytes in
                do { return try JSONDocument(bytes, numbers: .lenient) } catch {
                    throw CommandFailure("\(instances), line \(index + 1) is not JSON: \(error)")
                }
            }
            let options = InferenceOptions(closesObjects: closed, enumLimit: enumLimit)
            let draft = SchemaInference.draft(of: documents.map(\.root), options: options)
            CommandEnvironment.current.console.output.line(draft.bytes)
        }
    }
}
