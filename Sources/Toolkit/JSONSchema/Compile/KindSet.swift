/// A set of the kinds a value may be of, as a partition: an integer written `1`, one written `1.0`, and a fraction are
/// different kinds here, so that sets can be intersected bit by bit.
struct KindSet: OptionSet, Hashable {
    var rawValue: UInt16

    static let object = KindSet(rawValue: 1 << 0)
    static let array = KindSet(rawValue: 1 << 1)
    static let string = KindSet(rawValue: 1 << 2)
    /// Written without fraction and exponent.
    static let written = KindSet(rawValue: 1 << 3)
    /// Held as a double that is no integer.
    static let fraction = KindSet(rawValue: 1 << 4)
    static let boolean = KindSet(rawValue: 1 << 5 | 1 << 6)
    static let null = KindSet(rawValue: 1 << 7)
    /// Held as a double with an integer's value, below 2^63.
    static let integral = KindSet(rawValue: 1 << 8)
    /// The same from 2^63 on. It may have been written without a fraction: read leniently, an integer outside 64 bits
    /// becomes a double.
    static let huge = KindSet(rawValue: 1 << 9)

    static let real: KindSet = [.integral, .huge, .fraction]
    static let integer: KindSet = [.written, .integral, .huge]
    static let number: KindSet = [.written, .integral, .huge, .fraction]
    static let all = KindSet(rawValue: 0x3FF)

    /// The kinds of a `type` keyword's word.
    init?(typeName: String, in dialect: Dialect) {
        switch typeName {
        case "object": self = .object
        case "array": self = .array
        case "string": self = .string
        // Draft-04 goes by how the number is written: 1.0 is no integer.
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
    /// The set this kind of node belongs to; a double counts as a fraction until its value is looked at.
    @inline(__always) var set: KindSet { KindSet(rawValue: 1 << UInt16(rawValue)) }
}
