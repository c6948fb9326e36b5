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

                In all schema commands '-' in the place of a file is the standard input.
                """)

        enum Output: String, ExpressibleByArgument, CaseIterable { case flag, basic, problem }

        @Option(help: ArgumentHelp("The schema.", valueName: "file"))
        var schema: String

        @Option(help: ArgumentHelp("The documents, one on each line.", valueName: "file"))
        var instances: String

        @Option(
            help: ArgumentHelp(
                "What is said of an invalid document: nothing more, the standard's basic units, or what the gateway answers."
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
                if reading.isJSON { sink.line(judged.json.bytes) } else { judged.tell(sink) }
            }
            if !reading.isJSON {
                let word = invalid == 0 ? sink.style.good("ok") : sink.style.bad("invalid")
                sink.line("\(word): \(lines.count - invalid) of \(lines.count) documents are valid")
            }
            if invalid > 0 { throw Answer.invalid.exit }
        }
    }
}

/// One document and what is said of it.
private struct ValidatedLine {
    let number: Int
    let output: SchemaCommand.Validate.Output
    let verdict: Verdict
    /// Why it is no JSON.
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

    /// What is wrong although no keyword says so.
    private var hindrance: String? {
        if let error { return "not JSON: \(error)" }
        guard case .exhausted(let budget) = verdict else { return nil }
        return "too much to evaluate: \(budget.limit)"
    }

    func tell(_ sink: Sink) {
        guard !isValid else { return }
        if let hindrance { return sink.line("line \(number): " + SanitizedText.safe(hindrance)) }
        guard output != .flag else { return sink.line("line \(number): invalid") }
        for violation in report.violations {
            sink.line(
                "line \(number): \(sink.style.name(SanitizedText.safe(violation.pointer)))  \(SanitizedText.safe(violation.detail))"
            )
        }
        if report.isTruncated { sink.line("line \(number): and more") }
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
            // The standard's locations are pointers, ours are fragments.
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
    /// What ran out, in words.
    fileprivate var limit: String {
        switch self {
        case .steps: "out of steps"
        case .patternSteps: "out of steps of patterns"
        case .depth: "nested too deep"
        case .members: "an object with too many members"
        case .memory: "out of working memory"
        case .bytes: "too many bytes"
        }
    }
}
