import JSON

extension JSONText {
    var isString: Bool { bytes.first == UInt8(ascii: "\"") }

    var isNumber: Bool {
        guard let first = bytes.first else { return false }
        return first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }

    var isNull: Bool { bytes.first == UInt8(ascii: "n") }

    /// A value as text: texts as they are, numbers as they were written, `true` and `false`. Nil for everything else.
    var scalarText: String? {
        switch bytes.first {
        case UInt8(ascii: "\""): string
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "n"), nil: nil
        default: description
        }
    }

    /// A JSON string without its escapes; nil for any other value.
    var string: String? {
        guard isString else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        // The bytes come from a text that parsed, so they parse too.
        return (try? JSONDocument(self))?.root.string
    }
}
