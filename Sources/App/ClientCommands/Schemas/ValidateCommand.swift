import ArgumentParser
import JSON
import JSONSchema

extension SchemaCommand {
    struct Validate: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validate documents, one on each line of a file.",
            discussion: """
                parley schema validate --schema order.json --instances orders.jsonl
                parley history orders --all --json | jq -c .data | parley schema validate --schema order.json --instances -

                In all schema commands, '-' in place of a file means the standard input.
                """)

        enum Output: String, ExpressibleByArgument, CaseIterable { case flag, basic, problem }

        @Option(help: ArgumentHelp("The file with the schema.", valueName: "file"))
        var schema: String

        @Option(help: ArgumentHelp("The documents, one on each line.", valueName: "file"))
        var instances: String

        @Option(
            help: ArgumentHelp(
                "The output for an invalid document: none, the basic output of JSON Schema, or the gateway's response."
            ))
        var output = Output.problem

        @OptionGroup var reading: SchemaInputOptions

        func run() throws {
            let options = try reading.options()
            let schema = try reading.usableSchema(self.schema, options)
            let lines = try InstanceLines.read(instances)
            let sink = CommandEnvironment.current.console.output
            var scratch = Scratch()
            var invalid = 0
            for (index, bytes) in lines.enumerated() {
                let judged = ValidatedLine(index + 1, bytes, schema, reading, output, &scratch)
                if !judged.isValid { invalid += 1 }
                if reading.isJSON { sink.line(judged.json.bytes) } else { judged.printReport(sink) }
            }
            if !reading.isJSON {
                let word = invalid == 0 ? sink.style.good("ok") : sink.style.bad("invalid")
                sink.line("\(word): \(lines.count - invalid) of \(lines.count) documents are valid")
            }
            if invalid > 0 { throw Answer.invalid.exit }
        }
    }
}

/// One document with its validation result.
private struct ValidatedLine {
    let number: Int
    let output: SchemaCommand.Validate.Output
    let verdict: Verdict
    /// The error of the parser when the document is not JSON; nil otherwise.
    let error: JSONError?
    let report: Report

    var isValid: Bool { verdict == .valid }

    init(
        _ number: Int, _ bytes: [UInt8], _ schema: Schema, _ reading: SchemaInputOptions,
        _ output: SchemaCommand.Validate.Output, _ scratch: inout Scratch
    ) {
        self.number = number
        self.output = output
        do {
            let document = try reading.value(bytes)
            verdict = schema.verdict(on: document.root, scratch: &scratch)
            error = nil
            let isTold = output != .flag && verdict == .invalid
            report = isTold ? schema.report(on: document.root) : Report(violations: [])
        } catch {
            verdict = .invalid
            self.error = error
            report = Report(violations: [])
        }
    }

    /// The reason why the document could not be validated; nil when it was validated.
    private var hindrance: String? {
        if let error { return "not JSON: \(error)" }
        guard case .exhausted(let budget) = verdict else { return nil }
        return "the check exceeds a limit: \(budget.limit)"
    }

    func printReport(_ sink: Sink) {
        guard !isValid else { return }
        if let hindrance { return sink.line("line \(number): " + SanitizedText.safe(hindrance)) }
        guard output != .flag else { return sink.line("line \(number): invalid") }
        for violation in report.violations {
            sink.line(
                "line \(number): \(sink.style.name(SanitizedText.safe(violation.pointer)))  \(SanitizedText.safe(violation.detail))"
            )
        }
        if report.isTruncated { sink.line("line \(number): there are more errors") }
    }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("line", number)
            writer.member("valid", isValid)
            if output != .flag, !isValid {
                writer.key("errors")
                writer.beginArray()
                if let hindrance { print(hindrance, into: &writer) }
                for violation in report.violations { print(violation, into: &writer) }
                writer.endArray()
                if report.isTruncated { writer.member("truncated", true) }
            }
            writer.endObject()
        }
    }

    private func print(_ hindrance: String, into writer: inout JSONWriter) {
        print("#", "", hindrance, nil, "", "#", into: &writer)
    }

    private func print(_ violation: Violation, into writer: inout JSONWriter) {
        print(
            violation.pointer, violation.keyword, violation.detail, violation.expected, violation.keywordLocation,
            violation.absoluteKeywordLocation, into: &writer)
    }

    private func print(
        _ pointer: String, _ keyword: String, _ detail: String, _ expected: String?, _ location: String,
        _ absoluteLocation: String, into writer: inout JSONWriter
    ) {
        writer.beginObject()
        if output == .basic {
            writer.member("keywordLocation", location)
            writer.member("absoluteKeywordLocation", absoluteLocation)
            // The standard's output format has JSON Pointers, and reports have URI fragments.
            writer.member("instanceLocation", String(pointer.dropFirst()))
            writer.member("error", detail)
        } else {
            writer.member("pointer", pointer)
            writer.member("keyword", keyword)
            writer.member("detail", detail)
            if let expected { writer.member("expected", expected) }
            writer.member("schema", absoluteLocation)
        }
        writer.endObject()
    }
}

extension Verdict.Budget {
    /// The name of the exceeded limit.
    fileprivate var limit: String {
        switch self {
        case .steps: "too many steps"
        case .patternSteps: "too many steps in patterns"
        case .depth: "nested too deeply"
        case .members: "an object with too many members"
        case .memory: "too much working memory"
        case .bytes: "too many bytes"
        }
    }
}

extension SchemaCommand {
    struct Infer: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Infer a schema from documents, one on each line of a file.",
            discussion: """
                parley history orders.eu --all --json | jq -c .data > orders.jsonl
                parley schema infer --instances orders.jsonl > order.json

                The schema accepts all the documents and little else. Review the schema before you declare it.
                """)

        @Option(help: ArgumentHelp("The documents, one on each line.", valueName: "file"))
        var instances: String

        @Flag(help: "Infer a schema that rejects members that no document has.")
        var closed = false

        @Option(
            name: .customLong("enum-limit"),
            help: ArgumentHelp(
                "Strings with at most this number of distinct values become an enum; 0: never.", valueName: "n"))
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

/// The documents of a file, one per line.
enum InstanceLines {
    /// The maximum size of a file of documents, in bytes. The whole file is in memory.
    private static let limit = 1 << 30

    /// Returns the lines of a file, or of the standard input (`-`), without their line feeds. An empty text after the
    /// last line feed is not a line.
    static func read(_ file: String) throws(CommandFailure) -> [[UInt8]] {
        let bytes = try InputText.source(file, limit: limit)
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw CommandFailure("\(InputText.title(of: file)) contains no documents") }
        return lines
    }
}

/// `parley schema`: checks JSON Schemas and uses them on this machine, without a gateway and without a network.
///
/// Its exit codes differ from the exit codes of other commands. "Invalid" and "incompatible" are results and not
/// failures, and scripts must be able to distinguish them from a wrong option or a missing file.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Check schemas, validate documents, compare versions; offline.",
        discussion: """
            Nothing is fetched over the network: a referenced schema must be in --remotes, or be one of the \
            published metaschemas.

            Exit codes: 0 success, 1 wrong usage or a file that cannot be read, 2 the schema is rejected, 4 a document \
            is invalid, 5 the versions are incompatible, 6 the compatibility cannot be decided.
            """,
        subcommands: [Validate.self, Check.self, Suite.self, Compat.self, Infer.self, Bench.self])

    /// The result of a command as an exit code other than 0.
    enum Answer: Int32 {
        case wrongUsage = 1
        case refused = 2
        case disagreement = 3
        case invalid = 4
        case incompatible = 5
        case undecided = 6

        /// The error to throw after the output was printed.
        var exit: ExitCode { ExitCode(rawValue) }
    }
}
