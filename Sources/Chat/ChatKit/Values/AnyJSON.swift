public import JSON

/// A JSON value.
///
/// ```swift
/// let order: AnyJSON = ["amount": 4200, "items": ["tea", "cups"], "paid": true]
/// ```
public enum AnyJSON: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction and exponent, within 64 bits.
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])
}

extension AnyJSON {
    /// Copies a parsed value. If an object has several members with the same name, the last one is used.
    public init(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .boolean: self = .boolean(value.boolean ?? false)
        case .integer: self = .integer(value.integer ?? 0)
        case .real: self = .double(value.double ?? 0)
        case .string: self = .string(value.string ?? "")
        case .array: self = .array((value.elements ?? []).map { AnyJSON($0) })
        case .object:
            self = .object(
                Dictionary((value.members ?? []).map { ($0.name, AnyJSON($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }

    /// Parses a JSON text that was validated before. The result is null when the text is not valid.
    public init(_ text: JSONText) {
        guard let root = try? JSONDocument(text).root else {
            self = .null
            return
        }
        self.init(root)
    }

    /// Creates an object from members with any JSON values.
    public init(_ members: [String: any JSONCodable]) { self = members.object }

    /// The value as JSON text. Members are sorted by name, so that equal values print equal texts. Numbers that JSON
    /// cannot represent (NaN, infinities) become null.
    public var text: JSONText { JSONText { print(to: &$0) } }

    func print(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .integer(let value): writer.integer(value)
        case .double(let value):
            if value.isFinite { writer.raw(JSONText(trusted: Array("\(value)".utf8))) } else { writer.null() }
        case .string(let value): writer.string(value)
        case .array(let values):
            writer.beginArray()
            for value in values { value.print(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.key(text: name)
                value.print(to: &writer)
            }
            writer.endObject()
        }
    }

    /// The member `name` of an object; nil when the object has no member `name`, and for a value that is not an object.
    public subscript(name: String) -> AnyJSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text of a string; nil for any other value.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The members of an object; empty for any other value.
    public var members: [String: AnyJSON] { if case .object(let members) = self { members } else { [:] } }
}

extension AnyJSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: AnyJSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, AnyJSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
