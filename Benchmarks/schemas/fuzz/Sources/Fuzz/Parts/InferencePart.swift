import JSON
import JSONSchema

/// Drafts from values: each compiles, and accepts what it was made from.
enum InferencePart: Part {
    static let name = "inference"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        let first = dice.once(in: 2) ? dice.value() : dice.pick(corpus.values)
        let values = (0...dice.size(30)).map { _ in dice.mutation(of: first, with: corpus.values) }
        return Input(bytes: first.bytes, others: values.map(\.bytes))
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        let values = ([input.bytes] + input.others).compactMap { try? JSONDocument(JSONText(trusted: $0)) }
        let options = InferenceOptions(
            closesObjects: dice.once(in: 2), enumLimit: dice.below(10), enumEvidence: dice.below(20))
        let draft = SchemaInference.draft(of: values.map(\.root), options: options)
        do {
            let schema = try Schema(try JSONDocument(draft))
            var scratch = Scratch()
            for value in values where schema.verdict(on: value.root, scratch: &scratch) == .invalid {
                return .wrong("the draft refuses \(value.text): \(draft)")
            }
            return Outcome(isAccepted: true)
        } catch {
            let isLimit = (error as? SchemaError)?.problems.first?.reason == .limit
            return isLimit ? Outcome() : .wrong("the draft is no schema: \(error): \(draft)")
        }
    }
}
