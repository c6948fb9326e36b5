import JSON
@testable import JSONSchema

/// Both ways of evaluating and the report, on values that come near the schema.
enum VerdictsPart: Part {
    static let name = "verdicts"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        let origin = dice.below(corpus.cases.count)
        let known = corpus.cases[origin]
        let schema: Tree =
            switch dice.below(6) {
            case 0: dice.schema()
            case 1: dice.chain()
            case 2, 3: known.schema
            default: dice.mutation(of: known.schema, with: corpus.schemas)
            }
        let values = (0..<6).map { number in
            if number == 0 || known.values.isEmpty { return dice.value() }
            // Parts of the schema are what it speaks of: names, constants.
            return dice.mutation(of: dice.pick(known.values), with: known.values + [schema])
        }
        return Input(bytes: schema.bytes, others: values.map(\.bytes), origin: origin)
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        guard let document = try? JSONDocument(JSONText(trusted: input.bytes)) else { return Outcome() }
        var options = SchemaOptions(dialect: corpus.cases[input.origin].dialect, library: corpus.library)
        options.assertsContent = dice.once(in: 2)
        options.access = .layout
        guard let layout = try? Schema(document, options: options) else { return Outcome() }
        options.access = .public
        guard let plain = try? Schema(document, options: options) else { return Outcome() }
        var scratch = Scratch(limitBytes: dice.pick([1 << 10, 1 << 20]))
        for bytes in input.others {
            guard let value = try? JSONDocument(JSONText(trusted: bytes)) else { continue }
            let verdict = layout.verdict(on: value.root, scratch: &scratch)
            guard plain.verdict(on: value.root, scratch: &scratch) == verdict else {
                return .wrong("the ways of access differ")
            }
            if let complaint = Reporting.complaint(about: layout, verdict, value, &dice) {
                return .wrong("\(complaint): \(value.text)")
            }
        }
        return Outcome(isAccepted: true)
    }
}

/// What a report must be beside a verdict.
enum Reporting {
    static func complaint(
        about schema: Schema, _ verdict: Verdict, _ value: JSONDocument, _ dice: inout Dice
    ) -> String? {
        var options = ReportOptions()
        options.limit = dice.pick([1, 50])
        options.listsEveryBranch = dice.once(in: 3)
        let all = schema.collected(on: value.root, options: options)
        if !all.isTruncated || options.limit == 1 && !all.violations.isEmpty {
            if verdict == .valid, !all.violations.isEmpty { return "valid, but the report says \(all.violations)" }
            if verdict == .invalid, all.violations.isEmpty { return "invalid, but the report says nothing" }
        }
        if verdict == .invalid, schema.report(on: value.root, options: options).violations.isEmpty {
            return "an empty report"
        }
        for violation in all.violations {
            let pointer = JSONPointer(violation.pointer.dropFirst())
            guard let pointer, value.root.at(pointer) != nil else { return "\(violation.pointer) leads nowhere" }
        }
        return all.violations.count <= options.limit ? nil : "more violations than asked for"
    }
}
