/// A random number generator with a seed (SplitMix64: Steele, Lea, Flood 2014). Equal seeds give equal numbers.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed. Tests print it when they fail, so that the run can be repeated.
    public let seed: UInt64
    private var state: UInt64

    public init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension SeededGenerator {
    /// Returns a number in `0..<bound`.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
