@testable import JSONSchema

/// The format scanners, and what reads URIs.
enum FormatsPart: Part {
    static let name = "formats"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        if dice.once(in: 10) { return Input(bytes: dice.noise(80)) }
        var bytes = Array(dice.pick(SampleValues.strings).utf8)
        if dice.once(in: 3) { bytes += Array(dice.pick(SampleValues.strings).utf8) }
        return Input(bytes: dice.once(in: 10) ? bytes : dice.mutation(of: bytes))
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        var isAccepted = false
        input.bytes.withUnsafeBufferPointer { text in
            for format in Format.allCases where format.accepts(text) { isAccepted = true }
        }
        let text = String(decoding: input.bytes, as: UTF8.self)
        let base = dice.pick(["http://a/b/c?d#e", "urn:a:b", "parley:/schema"])
        if let (uri, _) = URIText.resolve(text, against: base), let (again, _) = URIText.resolve(uri, against: ""),
            again != uri
        {
            return .wrong("resolved twice it is \(again), once \(uri)")
        }
        return Outcome(isAccepted: isAccepted)
    }
}
