/// A part of the room that is tried by itself.
protocol Part {
    static var name: String { get }

    /// CPU time of one input, with the sanitizer. What takes longer counts as endless.
    static var secondsPerInput: Int { get }

    /// Makes the input that the dice say. The same dice make the same input.
    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input

    /// Tries it, and says what is wrong with the answers.
    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome
}

extension Part {
    static var secondsPerInput: Int { 2 }
}

struct Input {
    var bytes: [UInt8]
    /// For parts that need more than one text.
    var others: [[UInt8]] = []
    /// The place of the case in the corpus that it came from.
    var origin = 0
}

struct Outcome {
    /// How many of the inputs got past the first check: a fuzzer whose inputs are all refused tries nothing.
    var isAccepted = false
    var complaint: String?

    static func wrong(_ complaint: String) -> Outcome { Outcome(complaint: complaint) }
}
