/// A set of value kinds. Integers written `1`, integers written `1.0`, and fractions are different kinds here, so that
/// the kinds are disjoint and sets can be intersected bit by bit.
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
    /// A double with an integer value below 2^63.
    static let integral = KindSet(rawValue: 1 << 8)
    /// A double with an integer value of 2^63 and above. It may have been written without a fraction, because the
    /// lenient parser turns integers outside 64 bits into doubles.
    static let huge = KindSet(rawValue: 1 << 9)

    static let real: KindSet = [.integral, .huge, .fraction]
    static let integer: KindSet = [.written, .integral, .huge]
    static let number: KindSet = [.written, .integral, .huge, .fraction]
    static let all = KindSet(rawValue: 0x3FF)

    /// The kinds of a type name in the `type` keyword.
    init?(typeName: String, in dialect: Dialect) {
        switch typeName {
        case "object": self = .object
        case "array": self = .array
        case "string": self = .string
        // Draft-04 distinguishes by notation: 1.0 is not an integer.
        case "integer": self = dialect == .draft04 ? [.written, .huge] : .integer
        case "number": self = .number
        case "boolean": self = .boolean
        case "null": self = .null
        default: return nil
        }
    }

    /// The kind of a double.
    init(real: Double) {
        self = real != real.rounded(.down) ? .fraction : real.magnitude < 0x1p63 ? .integral : .huge
    }

    init(rawValue: UInt16) { self.rawValue = rawValue }
}

extension NodeKind {
    /// The set with this kind of node. A double counts as a fraction until its value is examined.
    @inline(__always) var set: KindSet { KindSet(rawValue: 1 << UInt16(rawValue)) }
}
