/// A set of kinds of values. Integers written as `1`, integers written as `1.0`, and fractions are different kinds. The
/// kinds are therefore disjoint, and sets can be intersected bit by bit.
struct KindSet: OptionSet, Hashable {
    var rawValue: UInt16

    static let object = KindSet(rawValue: 1 << 0)
    static let array = KindSet(rawValue: 1 << 1)
    static let string = KindSet(rawValue: 1 << 2)
    /// An integer written without fraction and exponent.
    static let written = KindSet(rawValue: 1 << 3)
    /// A double that is not an integer.
    static let fraction = KindSet(rawValue: 1 << 4)
    static let boolean = KindSet(rawValue: 1 << 5 | 1 << 6)
    static let null = KindSet(rawValue: 1 << 7)
    /// A double with an integer value below 2^63 in magnitude.
    static let integral = KindSet(rawValue: 1 << 8)
    /// A double with an integer value of at least 2^63 in magnitude. It may have been written without a fraction,
    /// because the lenient parser converts integers outside 64 bits to doubles.
    static let huge = KindSet(rawValue: 1 << 9)

    static let real: KindSet = [.integral, .huge, .fraction]
    static let integer: KindSet = [.written, .integral, .huge]
    static let number: KindSet = [.written, .integral, .huge, .fraction]
    static let all = KindSet(rawValue: 0x3FF)

    /// Creates the set of kinds for a type name of the `type` keyword. Returns nil for an unknown name.
    init?(typeName: String, in dialect: Dialect) {
        switch typeName {
        case "object": self = .object
        case "array": self = .array
        case "string": self = .string
        // In draft-04, the notation determines the type, so 1.0 is not an integer.
        case "integer": self = dialect == .draft04 ? [.written, .huge] : .integer
        case "number": self = .number
        case "boolean": self = .boolean
        case "null": self = .null
        default: return nil
        }
    }

    /// Creates the set that contains the kind of a double.
    init(real: Double) {
        self = real != real.rounded(.down) ? .fraction : real.magnitude < 0x1p63 ? .integral : .huge
    }

    init(rawValue: UInt16) { self.rawValue = rawValue }
}

extension NodeKind {
    /// The set that contains this kind of node. A double counts as a fraction, because its value is not examined here.
    @inline(__always) var set: KindSet { KindSet(rawValue: 1 << UInt16(rawValue)) }
}
