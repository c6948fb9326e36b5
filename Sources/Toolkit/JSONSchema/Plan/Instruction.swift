/// The operation of an instruction on a node.
///
/// A *typed* instruction fails for a value of another kind; other instructions pass it.
enum Operation: UInt8 {
    case pass, fail

    // Leaves: checks of one value without calls. A program of a single leaf is run inline.
    /// `a`: the set of permitted kinds; `b`: the same as bits of `NodeKind`, with doubles only when all of them pass;
    /// `c`: 1 when only some doubles pass.
    case kinds
    /// `a`, `b`: the least and the greatest number of code points. Typed by `isTyped`.
    case string
    /// Typed: an integer in range `a`.
    case integer
    /// A number in range `a`; typed by `isTyped`.
    case number
    /// Typed: equal to string `a`.
    case equalsString
    /// Typed: one of the strings of set `a`.
    case inStrings

    case multipleOf
    /// `a`: the pattern.
    case pattern
    case format
    /// `a`: 1 for base64, 2 for JSON, 3 for both.
    case content
    /// One of the values `a` to `a + b`.
    case inValues

    /// `a`: object table; typed by `isTyped`.
    case object
    /// `a`: the first of `b` required names, for those that exceed a word of bits.
    case required
    /// If member `a` is present, so must be the `c` names from `b` on.
    case dependentRequired
    /// If member `a` is present, the object must pass program `b`.
    case dependentSchema
    /// `a`: array table; typed by `isTyped`.
    case array

    /// The same value must pass program `a`.
    case call
    /// Branches `a` to `a + b`.
    case anyOf
    case oneOf
    /// `a`: switch table. The value of one member determines the branch that can pass.
    case selectBranch
    case not
    /// `a`: test, `b`: then, `c`: else.
    case conditional

    // The following operations track evaluated members and elements.
    /// Runs program `a` with new marks; `b`: 1 when its marks count outside as well.
    case region
    case markObject
    case markArray
    case markAnyOf
    case markOneOf
    case markConditional
    /// Unmarked members or elements must pass program `a`.
    case unevaluatedMembers
    case unevaluatedElements
}

/// One instruction of a program: sixteen bytes without references.
struct Instruction: BitwiseCopyable {
    var operation: Operation
    /// True for the last instruction of a program.
    var isLast = false
    /// True for a program of a single leaf.
    var isSimple = false
    var isTyped = false
    var a: UInt32 = 0
    var b: UInt32 = 0
    var c: UInt32 = 0

    init(_ operation: Operation, isTyped: Bool = false, a: Int = 0, b: Int = 0, c: Int = 0) {
        self.operation = operation
        self.isTyped = isTyped
        self.a = UInt32(clamping: a)
        self.b = UInt32(clamping: b)
        self.c = UInt32(clamping: c)
    }

    init(kinds: KindSet) {
        let allReal = kinds.isSuperset(of: .real)
        let bits = kinds.rawValue & 0xEF | (allReal ? KindSet.fraction.rawValue : 0)
        self.init(
            .kinds, a: Int(kinds.rawValue), b: Int(bits), c: !allReal && !kinds.isDisjoint(with: .real) ? 1 : 0)
    }

    /// The kinds of a `kinds` instruction.
    var kinds: KindSet { KindSet(rawValue: UInt16(truncatingIfNeeded: a)) }
}

extension Operation {
    var isLeaf: Bool { (Operation.pass.rawValue...Operation.inStrings.rawValue).contains(rawValue) }

    /// The operands that refer to programs.
    var programs: [WritableKeyPath<Instruction, UInt32>] {
        switch self {
        case .call, .not, .region, .unevaluatedMembers, .unevaluatedElements: [\.a]
        case .dependentSchema: [\.b]
        case .conditional, .markConditional: [\.a, \.b, \.c]
        default: []
        }
    }
}
