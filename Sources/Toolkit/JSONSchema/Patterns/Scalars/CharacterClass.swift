extension Pattern {
    /// A character class as it is written. Its members are looked up only when a plan is made: most texts that are asked
    /// for their syntax (`format: regex`) never need them.
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

        /// `.` without the `s` flag.
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
