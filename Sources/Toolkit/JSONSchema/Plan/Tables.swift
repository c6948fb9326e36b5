/// The two programs every plan begins with, by number. In the finished block programs are distances; the first stays zero.
enum Programs {
    static let pass: UInt32 = 0
    static let fail: UInt32 = 1
}

/// A name or string as the plan keeps it: its length and two words decide nearly every comparison.
struct PlanText: BitwiseCopyable {
    var words = NameWords()
    var length: UInt32 = .max
    /// In the plan's bytes.
    var offset: UInt32 = 0

    /// Marks a free slot: no string is as long.
    static let free = PlanText()
}

/// A member an object table knows.
struct Slot: BitwiseCopyable {
    /// First, so that a slot's address is that of its name.
    var name = PlanText.free
    /// The bit to set when the member is there; zero when it is not required.
    var required: UInt64 = 0
    var program = Programs.pass
    /// Whether the member counts as evaluated; not so when it is known for being required only.
    var marks = false
    var way = MatchStrategy.run
    /// For `kinds`: the kinds that pass, by `NodeKind`.
    var kinds: UInt8 = 0
}

/// The shortest way to run a program, known from its first instruction.
enum MatchStrategy: UInt8 {
    case pass
    /// A single check of the kind, decided by a mask.
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

/// A set of texts with open addressing: a power of two of slots, at most half of them taken.
struct TextTable: BitwiseCopyable {
    var multiplier: UInt64 = 0
    var shift: UInt64 = 63
    var mask: UInt32 = 0
    var first: UInt32 = 0

    @inline(__always) func home(_ words: NameWords, _ length: Int) -> Int {
        Int(truncatingIfNeeded: (words.mixed(length) &* multiplier) &>> shift)
    }
}

/// `properties`, `patternProperties`, `additionalProperties`, `required`, `propertyNames` and the counts, in one pass.
struct ObjectTable: BitwiseCopyable {
    /// First, so that a table's address is that of its names.
    var members = TextTable()
    var required: UInt64 = 0
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// Members known by name.
    var declared: UInt32 = 0
    var patterns: UInt32 = 0
    var patternCount: UInt32 = 0
    /// For members neither named nor matched.
    var additional = Programs.pass
    /// For each name.
    var names = Programs.pass
    /// Whether there is a schema for other members, even one that passes all.
    var hasAdditional = false
    /// Nothing is asked of members that are not named here.
    var isOpen = true
}

/// Members whose names match a pattern.
struct PatternRow: BitwiseCopyable {
    var pattern: UInt32
    var program: UInt32
    /// Whether a match keeps the member from `additional`.
    var covers: Bool
}

struct ArrayTable: BitwiseCopyable {
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max
    /// Programs of the first elements.
    var prefix: UInt32 = 0
    var prefixCount: UInt32 = 0
    /// For the other elements.
    var rest = Programs.pass
    var restWay = MatchStrategy.run
    var contains: UInt32 = 0
    var containsCount: UInt32 = 0
    var isUnique = false
    /// Whether there is a schema for the elements past the prefix, even one that passes all.
    var hasRest = false
}

struct ContainsRow: BitwiseCopyable {
    var program: UInt32
    var minimum: UInt32
    var maximum: UInt32
    var marks: Bool
}

/// A branch, with the kinds of value it can pass at all.
struct Branch: BitwiseCopyable {
    var program: UInt32
    var kinds: KindSet
}

/// Branches told apart by the string in one member.
struct SwitchTable: BitwiseCopyable {
    /// First, so that a switch's address is that of its strings.
    var values = TextTable()
    var member: UInt32
    /// For values that are no object.
    var otherwise = Programs.pass
}
