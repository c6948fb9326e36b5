/// The numbers of the two programs at the start of every plan. In the finished block programs are offsets; the first
/// stays zero.
enum Programs {
    static let pass: UInt32 = 0
    static let fail: UInt32 = 1
}

/// A name or string in a plan. The length and two words decide nearly every comparison.
struct PlanText: BitwiseCopyable {
    var words = NameWords()
    var length: UInt32 = .max
    /// The offset in the plan's bytes.
    var offset: UInt32 = 0

    /// Marks a free slot; no string has this length.
    static let free = PlanText()
}

/// A member in an object table.
struct Slot: BitwiseCopyable {
    /// The first field, so that a slot's address is that of its name.
    var name = PlanText.free
    /// The bit to set when the member is present; zero when it is not required.
    var required: UInt64 = 0
    var program = Programs.pass
    /// True when the member counts as evaluated; false when the table contains it only because it is required.
    var marks = false
    var way = MatchStrategy.run
    /// For `kinds`: the permitted kinds, by `NodeKind`.
    var kinds: UInt8 = 0
}

/// The fastest way to run a program, determined from its first instruction.
enum MatchStrategy: UInt8 {
    case pass
    /// A single check of the value's kind against a mask.
    case kinds
    /// A single check of a string's length, or of an integer's range.
    case string, integer
    /// Another single leaf.
    case leaf
    /// A single table for values of one kind.
    case object, array
    /// A single switch on a member's string.
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

/// A set of texts with open addressing. The number of slots is a power of two, and at most half of them are used.
struct TextTable: BitwiseCopyable {
    var multiplier: UInt64 = 0
    var shift: UInt64 = 63
    var mask: UInt32 = 0
    var first: UInt32 = 0

    @inline(__always) func home(_ words: NameWords, _ length: Int) -> Int {
        Int(truncatingIfNeeded: (words.mixed(length) &* multiplier) &>> shift)
    }
}

/// The keywords `properties`, `patternProperties`, `additionalProperties`, `required`, `propertyNames` and the counts,
/// checked in one pass.
struct ObjectTable: BitwiseCopyable {
    /// The first field, so that a table's address is that of its names.
    var members = TextTable()
    var required: UInt64 = 0
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// The number of members known by name.
    var declared: UInt32 = 0
    var patterns: UInt32 = 0
    var patternCount: UInt32 = 0
    /// The program for members that are neither named nor matched.
    var additional = Programs.pass
    /// The program for each name.
    var names = Programs.pass
    /// True when there is a schema for other members, even one that passes everything.
    var hasAdditional = false
    /// True when members that are not named here are unrestricted.
    var isOpen = true
}

/// The members whose names match a pattern.
struct PatternRow: BitwiseCopyable {
    var pattern: UInt32
    var program: UInt32
    /// True when a match excludes the member from `additional`.
    var covers: Bool
}

struct ArrayTable: BitwiseCopyable {
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// The programs of the first elements.
    var prefix: UInt32 = 0
    var prefixCount: UInt32 = 0
    /// The program for the other elements.
    var rest = Programs.pass
    var restWay = MatchStrategy.run
    var contains: UInt32 = 0
    var containsCount: UInt32 = 0
    var isUnique = false
    /// True when there is a schema for the elements after the prefix, even one that passes everything.
    var hasRest = false
}

struct ContainsRow: BitwiseCopyable {
    var program: UInt32
    var minimum: UInt32
    var maximum: UInt32
    var marks: Bool
}

/// A branch, with the kinds of values that can pass it.
struct Branch: BitwiseCopyable {
    var program: UInt32
    var kinds: KindSet
}

/// Branches that are distinguished by the string in one member.
struct SwitchTable: BitwiseCopyable {
    /// The first field, so that a switch's address is that of its strings.
    var values = TextTable()
    var member: UInt32
    /// The program for values that are not objects.
    var otherwise = Programs.pass
}
