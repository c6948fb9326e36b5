extension Pattern {
    /// The classes of a pattern, each once, and looked up once.
    struct ClassList {
        private(set) var sets: [ScalarSet] = []
        private var numbers: [ScalarSet: Int32] = [:]
        private var known: [CharacterClass: Int32] = [:]
        private var rangeCount = 0
        private let rangeLimit: Int

        init(rangeLimit: Int) { self.rangeLimit = rangeLimit }

        mutating func number(of scalar: UInt32) -> Int32 { number(of: ScalarSet([scalar...scalar])) }

        mutating func number(of characters: CharacterClass) throws(PatternError) -> Int32 {
            if let known = known[characters] { return known }
            let members = characters.members
            rangeCount += members.ranges.count
            guard rangeCount <= rangeLimit else {
                throw PatternError(message: "the pattern holds too many character classes", offset: 0)
            }
            let number = number(of: members)
            known[characters] = number
            return number
        }

        private mutating func number(of set: ScalarSet) -> Int32 {
            if let known = numbers[set] { return known }
            numbers[set] = Int32(sets.count)
            sets.append(set)
            return Int32(sets.count - 1)
        }
    }
}
