/// The subset of CBOR (RFC 8949) that access tokens use.
indirect enum CBOR: Sendable, Equatable {
    case unsigned(UInt64)
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    /// A map. Its members keep their order, because a token's signature covers the encoded bytes.
    case map([(key: CBOR, value: CBOR)])
    case boolean(Bool)
    case null
    case double(Double)

    static func == (left: CBOR, right: CBOR) -> Bool { left.encoded == right.encoded }

    /// A member name in a token, as a byte string, which SDKs expect.
    static func name(_ text: String) -> CBOR { .bytes(Array(text.utf8)) }

    /// The value of the first member with this name; nil if there is no such member or the value is not a map. The name
    /// may be a text or a byte string.
    subscript(name: String) -> CBOR? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.key.string == name }?.value
    }

    /// The text of a text value, or of a byte string that is valid UTF-8; nil for other values.
    var string: String? {
        switch self {
        case .text(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    var number: UInt64? { if case .unsigned(let number) = self { number } else { nil } }

    var members: [(key: CBOR, value: CBOR)] { if case .map(let members) = self { members } else { [] } }
}

// MARK: - Writing

extension CBOR {
    var encoded: [UInt8] {
        var output: [UInt8] = []
        encode(to: &output)
        return output
    }

    private func encode(to output: inout [UInt8]) {
        switch self {
        case .unsigned(let number): Self.head(0, number, to: &output)
        case .negative(let number): Self.head(1, number, to: &output)
        case .bytes(let bytes):
            Self.head(2, UInt64(bytes.count), to: &output)
            output += bytes
        case .text(let text):
            Self.head(3, UInt64(text.utf8.count), to: &output)
            output += text.utf8
        case .array(let elements):
            Self.head(4, UInt64(elements.count), to: &output)
            for element in elements { element.encode(to: &output) }
        case .map(let members):
            Self.head(5, UInt64(members.count), to: &output)
            for (key, value) in members {
                key.encode(to: &output)
                value.encode(to: &output)
            }
        case .boolean(let value): output.append(value ? 0xF5 : 0xF4)
        case .null: output.append(0xF6)
        case .double(let value):
            output.append(0xFB)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(shift)))
            }
        }
    }

    private static func head(_ major: UInt8, _ value: UInt64, to output: inout [UInt8]) {
        let type = major << 5
        let width: Int
        switch value {
        case 0..<24:
            output.append(type | UInt8(value))
            return
        case ..<0x100: (width, _) = (1, output.append(type | 24))
        case ..<0x1_0000: (width, _) = (2, output.append(type | 25))
        case ..<0x1_0000_0000: (width, _) = (4, output.append(type | 26))
        default: (width, _) = (8, output.append(type | 27))
        }
        for index in (0..<width).reversed() { output.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}

// MARK: - Reading

extension CBOR {
    /// Decodes exactly one value. Returns nil for bytes that are not exactly one value, for more than 8 levels of
    /// nesting, and for types outside this subset.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let value = reader.value(depth: 8), reader.at == bytes.count else { return nil }
        self = value
    }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        mutating func value(depth: Int) -> CBOR? {
            guard depth > 0, let (major, number) = head() else { return nil }
            switch major {
            case 0: return .unsigned(number)
            case 1: return .negative(number)
            case 2: return read(number).map { .bytes($0) }
            case 3: return read(number).flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
            case 4:
                var elements: [CBOR] = []
                // Each element takes at least one byte. The loop therefore stops at the end of the bytes, even if the
                // count is very large.
                for _ in 0..<number {
                    guard let element = value(depth: depth - 1) else { return nil }
                    elements.append(element)
                }
                return .array(elements)
            case 5:
                var members: [(key: CBOR, value: CBOR)] = []
                for _ in 0..<number {
                    guard let key = value(depth: depth - 1), let member = value(depth: depth - 1) else { return nil }
                    members.append((key, member))
                }
                return .map(members)
            case 7 where number == 20: return .boolean(false)
            case 7 where number == 21: return .boolean(true)
            case 7 where number == 22: return .null
            default: return major == 8 ? .double(Double(bitPattern: number)) : nil
            }
        }

        /// Reads the first bytes of the next value, and returns its major type and the number that follows. A double is
        /// returned as type 8, which CBOR does not define, with the bits of the double. Nil at the end of the bytes and
        /// for an unsupported value.
        private mutating func head() -> (major: UInt8, number: UInt64)? {
            guard let first = read(1)?.first else { return nil }
            let (major, info) = (first >> 5, first & 31)
            if info < 24 { return (major, UInt64(info)) }
            guard info < 28, let digits = read(1 << UInt64(info - 24)) else { return nil }
            let number = digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if major == 7 { return info == 27 ? (8, number) : nil }
            return (major, number)
        }

        private mutating func read(_ count: UInt64) -> [UInt8]? {
            guard count <= UInt64(bytes.count - at) else { return nil }
            defer { at += Int(count) }
            return Array(bytes[at..<at + Int(count)])
        }
    }
}
