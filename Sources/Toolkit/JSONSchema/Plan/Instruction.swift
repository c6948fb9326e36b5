/// What an instruction does to the node it is run on.
///
/// A *typed* instruction fails for a value of another kind; any other passes it.
enum Operation: UInt8 {
    case pass, fail

    // Leaves: checks of one value that call nothing. A program of one leaf is run without a call.
    /// `a`: the set of kinds the value must be of; `b`: the same as bits of `NodeKind`, with doubles only when all of
    /// them pass; `c`: 1 when some do.
    case kinds
    /// `a`, `b`: least and most code points. Typed by `isTyped`.
    case string
    /// Typed: an integer in the range number `a`.
    case integer
    /// A number in the range number `a`; typed by `isTyped`.
    case number
    /// Typed: the string number `a`.
    case equalsString
    /// Typed: one of the strings of set `a`.
    case inStrings

    case multipleOf
    /// `a`: number of the pattern.
    case pattern
    case format
    /// `a`: 1 base64, 2 JSON, 3 both.
    case content
    /// One of the values `a` to `a + b`.
    case inValues

    /// `a`: object table; typed by `isTyped`.
    case object
    /// `a`: first of `b` required names, for those beyond what a word of bits holds.
    case required
    /// If the member named `a` is there, so must be the `c` names from `b` on.
    case dependentRequired
    /// If the member named `a` is there, the object must pass program `b`.
    case dependentSchema
    /// `a`: array table; typed by `isTyped`.
    case array

    /// The same value must pass program `a`.
    case call
    /// Branches `a` to `a + b`.
    case anyOf
    case oneOf
    /// `a`: switch table. The value of one member tells which branch can pass.
    case selectBranch
    case not
    /// `a`: test, `b`: then, `c`: else.
    case conditional

    // What follows notes which members and elements have been evaluated.
    /// Runs program `a` with fresh marks; `b`: 1 when what it marks counts outside too.
    case region
    case markObject
    case markArray
    case markAnyOf
    case markOneOf
    case markConditional
    /// Members, or elements, without a mark must pass program `a`.
    case unevaluatedMembers
    case unevaluatedElements
}

/// One step of a program: sixteen bytes, no references.
struct Instruction: BitwiseCopyable {
    var operation: Operation
    /// The program ends here.
    var isLast = false
    /// A program of one leaf.
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

    /// Which operands are programs.
    var programs: [WritableKeyPath<Instruction, UInt32>] {
        switch self {
        case .call, .not, .region, .unevaluatedMembers, .unevaluatedElements: [\.a]
        case .dependentSchema: [\.b]
        case .conditional, .markConditional: [\.a, \.b, \.c]
        default: []
        }
    }
}
