import Text

/// A value of a column or of a parameter of a statement.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
}

/// The cursor of a list: a position as opaque text. It contains the sort keys of the last row of a page, in
/// hexadecimal, so that the text can be used in any URL.
package enum ListCursor {
    /// Encodes the values as a cursor. Each value is encoded as a letter for its kind, its text, and a unit separator
    /// (0x1F). Separators inside the text are escaped.
    package static func text(_ values: [SQLValue]) -> String {
        var bytes: [UInt8] = []
        for value in values {
            switch value {
            case .null: bytes.append(contentsOf: "n".utf8)
            case .integer(let integer): bytes.append(contentsOf: "i\(integer)".utf8)
            case .double(let double): bytes.append(contentsOf: "d\(double.bitPattern)".utf8)
            case .text(let text): bytes.append(contentsOf: "t\(text)".utf8.escaped)
            }
            bytes.append(separator)
        }
        return Hex.encode(bytes)
    }

    /// Decodes a cursor. Returns nil when the text is not a valid cursor.
    package static func values(_ cursor: String) -> [SQLValue]? {
        guard let bytes = Hex.decode(cursor), bytes.last == separator else { return nil }
        var values: [SQLValue] = []
        for part in bytes.dropLast().split(separator: separator, omittingEmptySubsequences: false) {
            guard let value = value(part) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func value(_ part: ArraySlice<UInt8>) -> SQLValue? {
        let rest = part.dropFirst()
        switch part.first {
        case UInt8(ascii: "n") where rest.isEmpty: return .null
        case UInt8(ascii: "i"): return Int64(String(decoding: rest, as: UTF8.self)).map { .integer($0) }
        case UInt8(ascii: "d"):
            return UInt64(String(decoding: rest, as: UTF8.self)).map { .double(Double(bitPattern: $0)) }
        case UInt8(ascii: "t"): return String(validating: rest.unescaped, as: UTF8.self).map { .text($0) }
        default: return nil
        }
    }

    private static let separator: UInt8 = 0x1F
}

extension Sequence<UInt8> {
    /// The bytes with each separator (0x1F) and escape character (0x1B) replaced by an escape sequence.
    fileprivate var escaped: [UInt8] {
        flatMap { byte -> [UInt8] in byte == 0x1F || byte == 0x1B ? [0x1B, byte + 0x40] : [byte] }
    }

    fileprivate var unescaped: [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in self {
            if byte == 0x1B, !isEscaped {
                isEscaped = true
            } else {
                bytes.append(isEscaped ? byte &- 0x40 : byte)
                isEscaped = false
            }
        }
        return bytes
    }
}
