@testable import JSONSchema

/// The pattern parser, and the engines against each other.
enum PatternsPart: Part {
    static let name = "patterns"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        if dice.once(in: 12) { return Input(bytes: dice.noise(60), others: [dice.noise(60)]) }
        let pattern = dice.pattern()
        let texts = (0..<4).map { _ in dice.text(near: pattern) }
        let bytes = Array(pattern.utf8)
        return Input(bytes: dice.once(in: 3) ? dice.mutation(of: bytes) : bytes, others: texts)
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        input.bytes.withUnsafeBufferPointer { source in
            let isValid = Pattern.isSyntacticallyValid(source)
            guard let pattern = try? Pattern(source) else { return Outcome() }
            guard isValid else { return .wrong("it compiles although it is not valid") }
            let engines = Pattern.Matcher.allCases.compactMap { try? Pattern(source, engine: $0) }
            for text in input.others {
                if let complaint = complaint(about: pattern, engines, text) { return .wrong(complaint) }
            }
            return Outcome(isAccepted: true)
        }
    }

    private static func complaint(about pattern: Pattern, _ engines: [Pattern], _ text: [UInt8]) -> String? {
        text.withUnsafeBufferPointer { text in
            var steps = 100_000
            let verdict = pattern.matches(text, steps: &steps)
            // On bytes that are no UTF-8 the engines may differ; they only have to end.
            let isText = String(validating: text, as: UTF8.self) != nil
            for engine in engines {
                var steps = 100_000
                let other = engine.matches(text, steps: &steps)
                if isText, verdict != .exhausted, other != .exhausted, other != verdict {
                    return "\(engine.engine) says \(other), \(pattern.engine) \(verdict) on \(Array(text))"
                }
            }
            return nil
        }
    }
}
