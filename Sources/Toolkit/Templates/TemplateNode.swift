import JSON

/// A node of a compiled template. `at` is the position of the node in the template, for reports of missing values.
indirect enum TemplateNode: Sendable {
    case constant(JSONText)
    case text(TextTemplate, at: String)
    case reference(TemplateReference, fallback: JSONText?, TemplateConversion?, at: String)
    case object([(name: String, value: TemplateNode)])
    case array([TemplateNode])
    case choice(TemplateChoice<TemplateNode>)
    case each(TemplateRepetition, TemplateNode, fallback: JSONText?)
    case join(TemplateNode, separator: String, at: String)
}

/// One of several branches, selected by the text of a reference:
/// `{"$switch":"header/X-Event","cases":{…},"default":…}`.
public struct TemplateChoice<Branch: Sendable>: Sendable {
    let reference: TemplateReference
    let cases: [String: Branch]
    let fallback: Branch?
    let pointer: String
}

/// A repetition, which produces one value for each element of an array:
/// `{"$each":"body/commits","as":"commit","when":…,"value":…}`.
public struct TemplateRepetition: Sendable {
    let array: TemplateReference
    let condition: TemplateCondition?
    let pointer: String
}

/// A conversion of a referenced value: `{"$":"body/id","to":"text"}`.
enum TemplateConversion: String, Sendable, CaseIterable {
    /// Converts a number or Boolean to a text.
    case text
    /// Converts a text that contains a number to that number, with the same digits.
    case number
    /// Converts a text to lower case.
    case lower
    /// Replaces each character of a text that is not allowed in an event type with a dot: `orders/create` becomes
    /// `orders.create`.
    case name
    /// Parses a text that contains JSON.
    case json

    /// Returns the converted value; `nil` when the value cannot be converted.
    func apply(_ value: JSONText) -> JSONText? {
        switch self {
        case .text: value.scalarText.map { JSONText(string: $0) }
        case .number: value.scalarText.flatMap { Self.parse($0) }.flatMap { $0.isNumber ? $0 : nil }
        case .lower: value.scalarText.map { JSONText(string: $0.lowercased()) }
        case .name: value.scalarText.map { JSONText(string: Self.name($0)) }
        case .json: value.isString ? value.scalarText.flatMap { Self.parse($0) } : nil
        }
    }

    private static func parse(_ text: String) -> JSONText? {
        // A text that is not valid JSON cannot be converted. The details of the error are not needed.
        (try? JSONDocument(Array(text.utf8), numbers: .lenient))?.text
    }

    private static func name(_ text: String) -> String {
        let parts = text.unicodeScalars.split { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", ".", "-": false
            default: true
            }
        }
        return parts.map { String($0) }.joined(separator: ".")
    }
}

extension JSONText {
    var isString: Bool { bytes.first == UInt8(ascii: "\"") }

    var isNumber: Bool {
        guard let first = bytes.first else { return false }
        return first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }

    var isNull: Bool { bytes.first == UInt8(ascii: "n") }

    /// The value as text: the text of a string, the original digits of a number, `true` or `false`; `nil` for any other
    /// value.
    var scalarText: String? {
        switch bytes.first {
        case UInt8(ascii: "\""): string
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "n"), nil: nil
        default: description
        }
    }

    /// The unescaped text of a JSON string; `nil` for any other value.
    var string: String? {
        guard isString else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        // The bytes are part of a text that was parsed successfully, so they can be parsed as well.
        return (try? JSONDocument(self))?.root.string
    }
}
