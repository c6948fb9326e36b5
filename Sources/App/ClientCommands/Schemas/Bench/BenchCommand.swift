import ArgumentParser
import JSON
import JSONSchema

extension SchemaCommand {
    struct Bench: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure the time needed to parse and to validate documents.",
            discussion: """
                parley schema bench --schema order.json --instances orders.jsonl

                Times are CPU nanoseconds per document, from samples that each last --sample-ms. Formats are \
                annotations unless --formats says otherwise.
                """)

        @Option(help: ArgumentHelp("The file with the schema.", valueName: "file"))
        var schema: String

        @Option(help: ArgumentHelp("The documents, one on each line.", valueName: "file"))
        var instances: String

        @Option(
            name: .customLong("sample-ms"),
            help: ArgumentHelp("The minimum CPU time of one sample, in milliseconds.", valueName: "milliseconds"))
        var sampleMilliseconds = 60.0

        @Option(
            name: .customLong("repeat"),
            help: ArgumentHelp("The number of samples, after one warm-up sample.", valueName: "n"))
        var samples = 7

        @OptionGroup var reading: SchemaInputOptions

        func validate() throws {
            guard sampleMilliseconds > 0, sampleMilliseconds <= 60_000 else {
                throw ValidationError("--sample-ms must be above 0 and at most 60000.")
            }
            guard (1...1_000).contains(samples) else { throw ValidationError("--repeat must be from 1 to 1000.") }
        }

        func run() throws {
            let options = try reading.options(formats: .annotate)
            let lines = try InstanceLines.read(instances)
            let compile = try CompileTime(samples) { try reading.usableSchema(schema, options) }
            let sampling = Sampling(nanoseconds: Int(sampleMilliseconds * 1_000_000), count: samples)
            guard let statistics = SchemaStatistics(compile.schema, lines, reading, sampling) else {
                CommandEnvironment.current.console.errors.line(
                    "error: validation differs between documents parsed in advance and documents parsed each time")
                throw Answer.disagreement.exit
            }
            let sink = CommandEnvironment.current.console.output
            let result = BenchResult(command: self, compile: compile, statistics: statistics)
            if reading.isJSON { return sink.line(result.json.bytes) }
            for line in result.table(sink.style) { sink.line(line) }
        }
    }
}

/// The times of compiling a schema.
struct CompileTime {
    let schema: Schema
    /// The time of the first compilation in nanoseconds. It includes compiling the metaschema.
    let first: Int
    let median: Int

    init(_ samples: Int, _ compile: () throws -> Schema) throws {
        var times: [Int] = []
        func timed() throws -> Schema {
            let start = CPUTime.now
            let schema = try compile()
            times.append(CPUTime.now - start)
            return schema
        }
        schema = try timed()
        first = times.removeFirst()
        for _ in 0..<samples { _ = try timed() }
        median = times.sorted()[times.count / 2]
    }
}

/// The minimum CPU time of one sample in nanoseconds, and the number of samples.
struct Sampling {
    let nanoseconds: Int
    let count: Int
}

/// The result that `bench` prints.
private struct BenchResult {
    let command: SchemaCommand.Bench
    let compile: CompileTime
    let statistics: SchemaStatistics

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("schema", command.schema)
            writer.member("instances", command.instances)
            writer.member("dialect", compile.schema.dialect.rawValue)
            writer.member("formats", (command.reading.formats ?? .annotate).rawValue)
            writer.member("documents", statistics.verdicts.utf8.count)
            writer.member("bytes", statistics.bytes)
            writer.member("valid", statistics.count(of: "1"))
            writer.member("invalid", statistics.count(of: "0"))
            writer.member("verdicts", statistics.verdicts)
            writer.member("json_access", compile.schema.access.rawValue)
            writer.member("compile_us", compile.first / 1_000)
            writer.member("compile_again_us", compile.median / 1_000)
            writer.member("plan_instructions", compile.schema.planInstructions)
            writer.member("plan_bytes", compile.schema.planBytes)
            for (name, time) in statistics.times {
                writer.key(text: name)
                writer.beginObject()
                writer.member("median_ns", time.median.asJSON)
                writer.member("min_ns", time.minimum.asJSON)
                writer.endObject()
            }
            writer.member("samples", command.samples)
            writer.member("iterations", statistics.validate.iterations)
            if let allocations = statistics.allocations {
                writer.member("allocations_per_document", allocations.asJSON)
            } else {
                writer.nullMember("allocations_per_document")
            }
            writer.endObject()
        }
    }

    func table(_ style: Style) -> [String] {
        var table = Table(["", "median ns", "min ns"])
        for (name, time) in statistics.times {
            table.add([name, time.median.asJSON.description, time.minimum.asJSON.description])
        }
        let pairs = [
            (name: "documents", value: "\(statistics.verdicts.utf8.count), \(statistics.count(of: "1")) valid"),
            (name: "bytes", value: "\(statistics.bytes)"),
            (
                name: "plan",
                value: "\(compile.schema.planInstructions) instructions, \(compile.schema.planBytes) bytes"
            ),
            (name: "compile", value: "first \(compile.first / 1_000) µs, median \(compile.median / 1_000) µs"),
            (name: "json access", value: compile.schema.access.rawValue),
            (name: "allocations", value: statistics.allocations.map { "\($0.asJSON) per document" } ?? "not counted"),
        ]
        return Table.pairs(pairs, style) + [""] + table.lines(style)
    }
}

extension Double {
    /// The number as JSON with three decimals, which is the precision of a CPU clock.
    fileprivate var asJSON: JSONText {
        let thousandths = Int((self * 1_000).rounded())
        let digits = String(thousandths % 1_000 + 1_000).dropFirst()
        return JSONText(trusted: Array("\(thousandths / 1_000).\(digits)".utf8))
    }
}
