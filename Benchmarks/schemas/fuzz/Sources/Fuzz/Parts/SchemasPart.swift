import JSON
@testable import JSONSchema

/// The compiler, in all dialects.
enum SchemasPart: Part {
    static let name = "schemas"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        let schema: Tree =
            switch dice.below(8) {
            case 0, 1: dice.schema()
            case 2: dice.chain()
            case 3: dice.heap()
            case 4: dice.mutation(of: dice.chain(), with: corpus.schemas)
            case 5: dice.mutation(of: dice.schema(), with: corpus.schemas)
            default: dice.mutation(of: dice.pick(corpus.schemas), with: corpus.schemas)
            }
        return Input(bytes: schema.bytes)
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        guard let document = try? JSONDocument(JSONText(trusted: input.bytes)) else { return Outcome() }
        var options = SchemaOptions(dialect: dice.pick(Dialect.allCases), library: corpus.library)
        options.checksMetaschema = !dice.once(in: 3)
        options.assertsContent = dice.once(in: 2)
        do throws(SchemaError) {
            let schema = try Schema(document, options: options)
            guard schema.planBytes <= options.limits.planBytes else { return .wrong("the plan is too large") }
            return Outcome(isAccepted: true)
        } catch {
            return error.problems.isEmpty ? .wrong("it is refused without a reason") : Outcome()
        }
    }
}
