/// The numbers of the two programs at the start of every plan: one accepts every value, and the other rejects every
/// value. The finished block contains offsets instead of program numbers. The offset of the first program is also zero.
enum Programs {
    static let pass: UInt32 = 0
    static let fail: UInt32 = 1
}

/// A name or string in a plan. Nearly all comparisons need only the length and `words`, which contains the first and
/// last eight bytes of the text.
struct PlanText: BitwiseCopyable {
    var words = NameWords()
    var length: UInt32 = .max
    /// The offset of the text in the plan's bytes.
    var offset: UInt32 = 0

    /// The value of a free slot. No string has this length.
    static let free = PlanText()
}

/// The entry of a member in an object table.
struct Slot: BitwiseCopyable {
    /// The name must be the first field, so that the address of a slot is the address of its name.
    var name = PlanText.free
    /// The bit that is set when the member is present; zero if the member is not required.
    var required: UInt64 = 0
    var program = Programs.pass
    /// True when the member counts as evaluated; false if the table contains the member only because it is required.
    var marks = false
    var way = MatchStrategy.run
    /// For the strategy `kinds`: the allowed kinds, as bits of `NodeKind`.
    var kinds: UInt8 = 0
}

/// The fastest way to run a program. It is determined from the first instruction of the program.
enum MatchStrategy: UInt8 {
    case pass
    /// The program is a single check of the value's kind.
    case kinds
    /// The program is a single check of a string's length, or of an integer's range.
    case string, integer
    /// The program is another single leaf (a check without calls).
    case leaf
    /// The program is a single object table or array table.
    case object, array
    /// The program is a single switch on the string of a member.
    case selectBranch
    case run

    init(_ first: Instruction) {
        switch first.operation {
        case _ where !first.isLast: self = .run
        case .pass: self = .pass
        case .kinds where first.c == 0: self = .kinds
        case .string: self = .string
        case .integer: self = .integer
        case .object where first.isTyped: self = .object
        case .array where first.isTyped: self = .array
        case .selectBranch: self = .selectBranch
        default: self = first.isSimple ? .leaf : .run
        }
    }
}

/// A hash table of texts with open addressing. The number of slots is a power of two, and at most half of the slots are
/// used.
struct TextTable: BitwiseCopyable {
    var multiplier: UInt64 = 0
    var shift: UInt64 = 63
    var mask: UInt32 = 0
    var first: UInt32 = 0

    @inline(__always) func home(_ words: NameWords, _ length: Int) -> Int {
        Int(truncatingIfNeeded: (words.mixed(length) &* multiplier) &>> shift)
    }
}

/// The requirements on the members of an object, which are checked in one pass: `properties`, `patternProperties`,
/// `additionalProperties`, `required`, `propertyNames` and the number of members.
struct ObjectTable: BitwiseCopyable {
    /// The members must be the first field, so that the address of a table is the address of its names.
    var members = TextTable()
    var required: UInt64 = 0
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// The number of members known by name.
    var declared: UInt32 = 0
    var patterns: UInt32 = 0
    var patternCount: UInt32 = 0
    /// The program for members whose name is not in the table and matches no pattern.
    var additional = Programs.pass
    /// The program that checks the name of each member (`propertyNames`).
    var names = Programs.pass
    /// True when there is a schema for other members, even a schema that accepts every value.
    var hasAdditional = false
    /// True when every member whose name is not in the table is accepted without a check.
    var isOpen = true
}

/// The members whose names match a pattern.
struct PatternRow: BitwiseCopyable {
    var pattern: UInt32
    var program: UInt32
    /// True when a matching member is not checked by the program `additional`.
    var covers: Bool
}

struct ArrayTable: BitwiseCopyable {
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// The first of the programs for the elements of the prefix (tuple).
    var prefix: UInt32 = 0
    var prefixCount: UInt32 = 0
    /// The program for the elements after the prefix.
    var rest = Programs.pass
    var restWay = MatchStrategy.run
    var contains: UInt32 = 0
    var containsCount: UInt32 = 0
    var isUnique = false
    /// True when there is a schema for the elements after the prefix, even a schema that accepts every value.
    var hasRest = false
}

struct ContainsRow: BitwiseCopyable {
    var program: UInt32
    var minimum: UInt32
    var maximum: UInt32
    var marks: Bool
}

/// A branch of `anyOf` or `oneOf`, with the kinds of values that can pass it.
struct Branch: BitwiseCopyable {
    var program: UInt32
    var kinds: KindSet
}

/// A switch: branches that are selected by the string of one member.
struct SwitchTable: BitwiseCopyable {
    /// The strings must be the first field, so that the address of a switch is the address of its strings.
    var values = TextTable()
    var member: UInt32
    /// The program for values that are not objects.
    var otherwise = Programs.pass
}
