import ChatKit
import JSON

/// A position in the event log: the number of 100 ns intervals since 1970.
public typealias Timetoken = UInt64

/// A JSON value of any kind.
public struct AnyJSON: Sendable, Hashable {
    let value: ChatKit.AnyJSON

    init(_ value: ChatKit.AnyJSON) { self.value = value }

    /// Creates a value from a Swift value: a text, a number, a Boolean, nil, an array, a dictionary with text keys, or
    /// a `Codable` value. A value of any other kind becomes null.
    public init(_ value: Any) { self.value = ChatKit.AnyJSON(untyped: value) }

    /// True for null, and for an empty array, object or text.
    public var isEmpty: Bool {
        switch value {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .boolean, .integer, .double: false
        }
    }

    /// The member `key` of an object; nil when the object has no member `key`, and for a value that is not an object.
    public subscript(key: String) -> AnyJSON? { value[key].map { AnyJSON($0) } }

    /// The member `key` of an object, as a plain Swift value; nil when the object has no member `key`.
    public subscript(rawValue key: String) -> Any? { value[key]?.plainValue }

    /// The value as a plain Swift value: `String`, `Int`, `Double`, `Bool`, `[Any]` or `[String: Any]`. Null is an
    /// `Any?` with the value nil.
    public var underlyingValue: Any { value.plainValue as Any }

    /// The elements of an array as plain Swift values; nil for any other value.
    public var arrayOptional: [Any]? {
        if case .array(let elements) = value { elements.map { $0.plainValue as Any } } else { nil }
    }

    /// The members of an object as plain Swift values; nil for any other value.
    public var dictionaryOptional: [String: Any]? {
        if case .object(let members) = value { members.mapValues { $0.plainValue as Any } } else { nil }
    }

    /// The elements of an array; empty for any other value.
    public var wrappedUnderlyingArray: [AnyJSON] {
        if case .array(let elements) = value { elements.map { AnyJSON($0) } } else { [] }
    }

    /// The members of an object; empty for any other value.
    public var wrappedUnderlyingDictionary: [String: AnyJSON] { value.members.mapValues { AnyJSON($0) } }

    /// Decodes the value as a type.
    ///
    /// - Throws: ``PubNubError`` with the reason `jsonDataDecodingFailure` when the value does not have the form of the
    ///   type.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do { return try value.decode(type) } catch { throw PubNubError(chat: error, as: .jsonDataDecodingFailure) }
    }
}

extension AnyJSON: Codable {
    public init(from decoder: any Decoder) throws { value = try ChatKit.AnyJSON(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension AnyJSON: CustomStringConvertible {
    public var description: String { "\(value.text)" }
}

extension AnyJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self.value = .string(value) }
    public init(integerLiteral value: Int) { self.value = .integer(Int64(value)) }
    public init(floatLiteral value: Double) { self.value = .double(value) }
    public init(booleanLiteral value: Bool) { self.value = .boolean(value) }
    public init(arrayLiteral elements: any Codable...) {
        value = .array(elements.map { ChatKit.AnyJSON(untyped: $0) })
    }
    public init(dictionaryLiteral elements: (String, any Codable)...) {
        let members = elements.map { ($0.0, ChatKit.AnyJSON(untyped: $0.1)) }
        value = .object(Dictionary(members, uniquingKeysWith: { $1 }))
    }
}

extension ChatKit.AnyJSON {
    /// Creates a value from a plain Swift value. A value without a JSON form becomes null.
    init(untyped value: Any) {
        switch value {
        case let value as AnyJSON: self = value.value
        case let value as String: self = .string(value)
        case let value as Bool: self = .boolean(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Double: self = .double(value)
        case let value as [String: Any]: self = .object(value.mapValues { ChatKit.AnyJSON(untyped: $0) })
        case let value as [Any]: self = .array(value.map { ChatKit.AnyJSON(untyped: $0) })
        case let value as any Encodable: self = (try? ChatKit.AnyJSON(encoding: value)) ?? .null
        default: self = .null
        }
    }

    /// The plain Swift value; nil for null.
    var plainValue: Any? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): Int(value)
        case .double(let value): value
        case .string(let value): value
        case .array(let elements): elements.map { $0.plainValue as Any }
        case .object(let members): members.mapValues { $0.plainValue as Any }
        }
    }
}
