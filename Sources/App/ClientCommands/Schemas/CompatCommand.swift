import ArgumentParser
import JSON
import JSONSchema

extension SchemaCommand {
    struct Compat: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Check whether a new version of a schema is compatible; if not, show a document that only one version accepts.",
            discussion: """
                parley schema compat --old order-1.json --new order-2.json --mode full

                backward: the new version accepts every document that the old version accepts. forward: the old version \
                accepts every document that the new version accepts. full: both.
                """)

        @Option(help: ArgumentHelp("The file with the current version of the schema.", valueName: "file"))
        var old: String

        @Option(help: ArgumentHelp("The file with the new version of the schema.", valueName: "file"))
        var new: String

        @Option(help: "The compatibility to check.")
        var mode = SchemaComparison.Mode.backward

        @Flag(help: "Accept a new optional member even if the other version allows any value under its name.")
        var lenient = false

        @OptionGroup var reading: SchemaInputOptions

        func run() throws {
            let options = try reading.options()
            let before = try reading.usableSchema(old, options)
            let after = try reading.usableSchema(new, options)
            let comparison = SchemaComparison(old: before, new: after, mode: mode, isLenient: lenient)
            let sink = CommandEnvironment.current.console.output
            if reading.isJSON { sink.line(json(comparison).bytes) } else { printReport(comparison, sink) }
            switch comparison.verdict {
            case .yes: return
            case .no: throw Answer.incompatible.exit
            case .unknown: throw Answer.undecided.exit
            }
        }

        private func printReport(_ comparison: SchemaComparison, _ sink: Sink) {
            switch comparison.verdict {
            case .yes: sink.line("\(sink.style.good("yes")): \(mode.rawValue) compatible")
            case .no(let witness):
                sink.line("\(sink.style.bad("no")): not \(mode.rawValue) compatible")
                sink.line("one version accepts and the other rejects " + SanitizedText.safe(witness.description))
            case .unknown:
                sink.line(
                    "\(sink.style.bad("unknown")): the comparison found neither a proof of compatibility nor a counter-example"
                )
            }
            guard !comparison.changes.isEmpty else { return }
            var table = Table(["place", "change", "breaks", "may break"])
            for change in comparison.changes {
                table.add([change.pointer, change.change, Self.words(change.breaks), Self.words(change.undecided)])
            }
            for line in table.lines(sink.style) { sink.line(line) }
        }

        private static func words(_ directions: [SchemaComparison.Direction]) -> String {
            directions.isEmpty ? "-" : directions.map(\.rawValue).joined(separator: ", ")
        }

        private func json(_ comparison: SchemaComparison) -> JSONText {
            JSONText { writer in
                writer.beginObject()
                writer.member("verdict", comparison.verdict.word)
                writer.key("changes")
                writer.beginArray()
                for change in comparison.changes {
                    writer.beginObject()
                    writer.member("pointer", change.pointer)
                    writer.member("change", change.change)
                    writer.member("breaks", change.breaks.map(\.rawValue))
                    writer.member("undecided", change.undecided.map(\.rawValue))
                    writer.endObject()
                }
                writer.endArray()
                // The member is printed only for `no`. A witness may be null, so null does not stand for a missing
                // witness.
                if case .no(let witness) = comparison.verdict {
                    writer.member("witness", witness)
                } else {
                    writer.nullMember("witness")
                }
                writer.endObject()
            }
        }
    }
}

extension SchemaComparison.Compatibility {
    fileprivate var word: String {
        switch self {
        case .yes: "yes"
        case .no: "no"
        case .unknown: "unknown"
        }
    }
}
