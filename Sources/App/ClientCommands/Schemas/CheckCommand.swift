import ArgumentParser
import JSON
import JSONSchema

extension SchemaCommand {
    struct Check: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check whether a document is a valid schema.",
            discussion: "parley schema check --schema order.json --remotes shared=https://example.com/schemas/")

        @Option(help: ArgumentHelp("The file with the schema.", valueName: "file"))
        var schema: String

        @OptionGroup var reading: SchemaInputOptions

        func run() throws {
            let console = CommandEnvironment.current.console
            let options = try reading.options()
            do {
                let compiled = try reading.schema(schema, options)
                if reading.isJSON { return console.output.line(answer(compiled, nil).bytes) }
                console.output.line(
                    "\(console.output.style.good("ok")): a schema of \(compiled.dialect.rawValue), \(compiled.planInstructions) instructions in \(compiled.planBytes) bytes"
                )
            } catch let refused as SchemaErrorReport {
                if reading.isJSON {
                    console.output.line(answer(nil, refused).bytes)
                } else {
                    refused.printReport(console.errors)
                }
                throw Answer.refused.exit
            }
        }

        private func answer(_ compiled: Schema?, _ refused: SchemaErrorReport?) -> JSONText {
            JSONText { writer in
                writer.beginObject()
                writer.member("valid", refused == nil)
                if let compiled {
                    writer.member("dialect", compiled.dialect.rawValue)
                    writer.member("plan_instructions", compiled.planInstructions)
                    writer.member("plan_bytes", compiled.planBytes)
                }
                if let refused { writer.member("detail", refused.message) }
                writer.key("errors")
                if let refused {
                    refused.printProblems(into: &writer)
                } else {
                    writer.beginArray()
                    writer.endArray()
                }
                writer.endObject()
            }
        }
    }
}
