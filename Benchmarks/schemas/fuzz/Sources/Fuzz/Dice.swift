/// Repeatable randomness (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64
    /// How many more values may be drawn for the tree under way; leaves only when there are none.
    var room = 0

    /// Each case has its own, so that one can be replayed without those before it.
    init(seed: UInt64, part: Int, number: Int) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(part) << 56 ^ UInt64(number)
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// True once in `count` times.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// Mostly small, now and then up to `bound`.
    mutating func size(_ bound: Int) -> Int {
        let some = below(bound + 1)
        return once(in: 8) ? some : some % 8
    }
}
