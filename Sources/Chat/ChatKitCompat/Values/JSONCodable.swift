import ChatKit
import JSON

/// A value that has a JSON form. A `Codable` type conforms without code.
///
/// ```swift
/// struct Order: JSONCodable { var amount: Int }
/// pubnub.publish(channel: "orders", message: Order(amount: 4200)) { result in print(result) }
/// ```
public protocol JSONCodable: Codable {
    /// The value as JSON; null when it cannot be encoded.
    var codableValue: AnyJSON { get }
    /// The value as a plain Swift value; see ``AnyJSON/underlyingValue``.
    var rawValue: Any { get }
}

extension JSONCodable {
    public var codableValue: AnyJSON { AnyJSON((try? ChatKit.AnyJSON(encoding: self)) ?? .null) }

    public var rawValue: Any { codableValue.underlyingValue }

    /// Decodes the JSON form of the value as another type.
    ///
    /// - Throws: ``PubNubError`` with the reason `jsonDataDecodingFailure` when the value does not have the type's form.
    public func decode<Value: JSONCodable>(_ type: Value.Type) throws -> Value { try codableValue.decode(type) }

    /// The member `key` of an object, as a plain Swift value; nil when the object has no member `key`.
    public subscript(rawValue key: String) -> Any? { codableValue.value[key]?.plainValue }

    /// True for null.
    public var isNil: Bool { codableValue.value == .null }

    /// The text of a string; nil for any other value.
    public var stringOptional: String? { codableValue.value.string }

    /// The value of a whole number; nil for any other value.
    public var intOptional: Int? { codableValue.value.plainValue as? Int }

    /// The value of a number; nil for any other value.
    public var doubleOptional: Double? {
        switch codableValue.value {
        case .double(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// The value of a Boolean; nil for any other value.
    public var boolOptional: Bool? { codableValue.value.plainValue as? Bool }

    /// The value as JSON text; nil when it cannot be encoded.
    public var jsonStringify: String? { (try? encoded()).map { "\($0.text)" } }

    /// Returns the value as JSON.
    ///
    /// - Throws: ``PubNubError`` with the reason `jsonDataEncodingFailure` for a value that cannot be encoded.
    func encoded() throws -> ChatKit.AnyJSON {
        do { return try ChatKit.AnyJSON(encoding: self) } catch {
            throw PubNubError(chat: error, as: .jsonDataEncodingFailure)
        }
    }
}

extension AnyJSON: JSONCodable {
    public var codableValue: AnyJSON { self }
}

extension Array: JSONCodable where Element: JSONCodable {}

extension Dictionary: JSONCodable where Key == String, Value: JSONCodable {}

/// A text, a number or a Boolean: the values that a record's `custom` fields may have.
public protocol JSONCodableScalar: JSONCodable {
    /// The value, converted to the common type of all scalars.
    var scalarValue: JSONCodableScalarType { get }
}

extension String: JSONCodableScalar {
    public var scalarValue: JSONCodableScalarType { JSONCodableScalarType(.string(self)) }
}

extension Int: JSONCodableScalar {
    public var scalarValue: JSONCodableScalarType { JSONCodableScalarType(.integer(Int64(self))) }
}

extension Double: JSONCodableScalar {
    public var scalarValue: JSONCodableScalarType { JSONCodableScalarType(.double(self)) }
}

extension Bool: JSONCodableScalar {
    public var scalarValue: JSONCodableScalarType { JSONCodableScalarType(.boolean(self)) }
}

/// A scalar of any type.
public struct JSONCodableScalarType: JSONCodableScalar, Hashable, Sendable {
    let value: ChatKit.AnyJSON

    init(_ value: ChatKit.AnyJSON) { self.value = value }

    /// Creates a text; nil creates null.
    public init(stringValue: String?) { value = stringValue.map { .string($0) } ?? .null }
    /// Creates a whole number.
    public init(intValue: Int) { value = .integer(Int64(intValue)) }
    /// Creates a number.
    public init(doubleValue: Double) { value = .double(doubleValue) }
    /// Creates a Boolean.
    public init(boolValue: Bool) { value = .boolean(boolValue) }

    public init(from decoder: any Decoder) throws { value = try ChatKit.AnyJSON(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

    public var codableValue: AnyJSON { AnyJSON(value) }
    public var scalarValue: JSONCodableScalarType { self }
}

extension [String: JSONCodableScalarType] {
    /// Reads the `custom` member of a record; nil when the record has none.
    init?(custom text: JSONText?) {
        guard let text else { return nil }
        self = ChatKit.AnyJSON(text).members.mapValues { JSONCodableScalarType($0) }
    }

    var object: ChatKit.AnyJSON { .object(mapValues(\.value)) }
}
