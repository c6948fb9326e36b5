/// The operation of an instruction, which checks a value. The comments describe the operands `a`, `b` and `c`.
///
/// A *typed* instruction rejects a value of another kind. An instruction that is not typed accepts such a value.
enum Operation: UInt8 {
    case pass, fail

    // The following operations up to `inValues` are leaves: checks of one value without calls. A program of a single
    // leaf runs inline.
    /// The kind of the value. `a`: the allowed kinds. `b`: the allowed kinds as bits of `NodeKind`, where doubles are
    /// included only if all doubles pass. `c`: 1 when only some doubles pass.
    case kinds
    /// The length of a string. `a`, `b`: the minimum and maximum number of code points. Typed if `isTyped`.
    case string
    /// An integer in a range. `a`: the range. Typed.
    case integer
    /// A number in a range. `a`: the range. Typed if `isTyped`.
    case number
    /// A string that equals a text. `a`: the text. Typed.
    case equalsString
    /// One of several strings. `a`: the set of strings. Typed.
    case inStrings

    case multipleOf
    /// A string that matches a pattern. `a`: the pattern.
    case pattern
    case format
    /// A string with encoded content. `a`: 1 for base64, 2 for JSON, 3 for JSON in base64.
    case content
    /// One of several values. `a`: the first value. `b`: the number of values.
    case inValues

    /// The members of an object. `a`: the object table. Typed if `isTyped`.
    case object
    /// Required members that exceed the 64 bits of an object table. `a`: the first name. `b`: the number of names.
    case required
    /// Dependent members: if member `a` is present, the `c` names from `b` on are required.
    case dependentRequired
    /// A dependent schema: if member `a` is present, the object must pass program `b`.
    case dependentSchema
    /// The elements of an array. `a`: the array table. Typed if `isTyped`.
    case array

    /// A call: the same value must pass program `a`.
    case call
    /// At least one of several branches. `a`: the first branch. `b`: the number of branches.
    case anyOf
    case oneOf
    /// A switch: the string of one member determines the branch that can pass. `a`: the switch table.
    case selectBranch
    case not
    /// A condition. `a`: the program of `if`. `b`: the program of `then`. `c`: the program of `else`.
    case conditional

    // The following operations set or check the marks of evaluated members and elements.
    /// Runs program `a`, which starts with an empty set of marks. `b`: 1 to add the marks that the program sets to the
    /// marks of the enclosing rule.
    case region
    case markObject
    case markArray
    case markAnyOf
    case markOneOf
    case markConditional
    /// Members or elements without a mark must pass program `a`.
    case unevaluatedMembers
    case unevaluatedElements
}

/// One instruction of a program. It has 16 bytes and contains no references.
struct Instruction: BitwiseCopyable {
    var operation: Operation
    /// True for the last instruction of a program.
    var isLast = false
    /// True for the instruction of a program that consists of a single leaf (a check without calls).
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

    /// The allowed kinds of a `kinds` instruction.
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
