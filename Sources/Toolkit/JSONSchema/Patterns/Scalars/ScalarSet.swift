extension Pattern {
    /// A set of code points. It is stored as ascending ranges that do not overlap and are not adjacent.
    struct ScalarSet: Hashable {
        private(set) var ranges: [ClosedRange<UInt32>]

        static let last: UInt32 = 0x10FFFF
        static let everything = ScalarSet([0...last])
        static let nothing = ScalarSet([])
        static let digits = ScalarSet([0x30...0x39])
        /// The characters of `\w` and of word boundaries (`\b`). They are only ASCII, because the `i` flag is not
        /// supported.
        static let words = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
        /// The white space characters, which `\s` matches: WhiteSpace and LineTerminator (ECMA-262, 12.2 and 12.3).
        static let apps = ScalarSet([
            0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
            0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
        ])
        /// The characters that `.` does not match.
        static let lineEnds = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])

        init(_ unordered: [ClosedRange<UInt32>]) {
            ranges = []
            for range in unordered.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let before = ranges.last, range.lowerBound <= before.upperBound &+ 1 {
                    ranges[ranges.count - 1] = before.lowerBound...max(before.upperBound, range.upperBound)
                } else {
                    ranges.append(range)
                }
            }
        }

        var isEmpty: Bool { ranges.isEmpty }

        /// The only member of the set; nil if the set does not have exactly one member.
        var single: UInt32? {
            ranges.count == 1 && ranges[0].lowerBound == ranges[0].upperBound ? ranges[0].lowerBound : nil
        }

        var complement: ScalarSet {
            var gaps: [ClosedRange<UInt32>] = []
            var next: UInt32 = 0
            for range in ranges {
                if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
                next = range.upperBound + 1
            }
            if next <= Self.last { gaps.append(next...Self.last) }
            return ScalarSet(gaps)
        }

        func union(_ other: ScalarSet) -> ScalarSet { ScalarSet(ranges + other.ranges) }

        func intersection(_ other: ScalarSet) -> ScalarSet {
            complement.union(other.complement).complement
        }

        func isDisjoint(with other: ScalarSet) -> Bool {
            var mine = ranges[...]
            var others = other.ranges[...]
            while let left = mine.first, let right = others.first {
                if left.overlaps(right) { return false }
                if left.upperBound < right.upperBound { mine.removeFirst() } else { others.removeFirst() }
            }
            return true
        }

        func contains(_ scalar: UInt32) -> Bool {
            var low = 0
            var high = ranges.count
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
            }
            return low < ranges.count && ranges[low].contains(scalar)
        }
    }
}

extension Pattern {
    /// A character class as it is written in the pattern. Its members are determined only when the pattern is compiled,
    /// because syntax checks (`format: regex`) do not need them.
    struct CharacterClass: Hashable {
        enum Item: Hashable {
            case range(UInt32, UInt32)
            case digits(negated: Bool)
            case apps(negated: Bool)
            case words(negated: Bool)
            case property(UnicodeProperty, negated: Bool)
        }

        var items: [Item] = []
        var isNegated = false

        /// The class `.` without the `s` flag.
        static let anyButLineEnds = CharacterClass(
            items: ScalarSet.lineEnds.ranges.map { .range($0.lowerBound, $0.upperBound) }, isNegated: true)

        var members: ScalarSet {
            var ranges: [ClosedRange<UInt32>] = []
            var seen: Set<Item> = []
            for item in items {
                if case .range(let first, let last) = item {
                    ranges.append(first...last)
                } else if seen.insert(item).inserted {
                    ranges += item.members.ranges
                }
            }
            let set = ScalarSet(ranges)
            return isNegated ? set.complement : set
        }
    }
}

extension Pattern.CharacterClass.Item {
    var members: Pattern.ScalarSet {
        switch self {
        case .range(let first, let last): Pattern.ScalarSet([first...last])
        case .digits(let negated): negated ? Pattern.ScalarSet.digits.complement : .digits
        case .apps(let negated): negated ? Pattern.ScalarSet.apps.complement : .apps
        case .words(let negated): negated ? Pattern.ScalarSet.words.complement : .words
        case .property(let property, let negated): negated ? property.members.complement : property.members
        }
    }
}
