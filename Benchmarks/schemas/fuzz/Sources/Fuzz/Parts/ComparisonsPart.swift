import JSON
import JSONSchema

/// Two versions of a schema: the comparison ends, and no value contradicts a "yes".
enum ComparisonsPart: Part {
    static let name = "comparisons"

    /// A comparison has steps of its own, no clock: all of them take a third of a second without the sanitizer.
    static let secondsPerInput = 10

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        let origin = dice.below(corpus.cases.count)
        let old = dice.once(in: 2) ? corpus.cases[origin].schema : dice.once(in: 4) ? dice.chain() : dice.schema()
        let new = dice.mutation(of: old, with: corpus.schemas)
        let values = corpus.cases[origin].values.map(\.bytes) + (0..<4).map { _ in dice.value().bytes }
        return Input(bytes: old.bytes, others: [new.bytes] + values, origin: origin)
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        let options = SchemaOptions(dialect: corpus.cases[input.origin].dialect, library: corpus.library)
        func schema(_ bytes: [UInt8]) -> Schema? {
            (try? JSONDocument(JSONText(trusted: bytes))).flatMap { try? Schema($0, options: options) }
        }
        guard let old = schema(input.bytes), let new = schema(input.others[0]) else { return Outcome() }
        let comparison = SchemaComparison(old: old, new: new, mode: .backward)
        guard comparison.verdict == .yes else { return Outcome(isAccepted: true) }
        var scratch = Scratch()
        for bytes in input.others.dropFirst() {
            guard let value = try? JSONDocument(JSONText(trusted: bytes)) else { continue }
            if old.verdict(on: value.root, scratch: &scratch) == .valid,
                new.verdict(on: value.root, scratch: &scratch) == .invalid
            {
                return .wrong("compatible, but the new version refuses \(value.text)")
            }
        }
        return Outcome(isAccepted: true)
    }
}
