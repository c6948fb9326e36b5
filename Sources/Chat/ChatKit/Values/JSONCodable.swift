public import ChatModel

/// A value that can be converted to JSON: texts, numbers, Booleans, lists and objects of them, ``AnyJSON``, and types
/// of the program.
///
/// A `Codable` type conforms without code:
/// ```swift
/// struct Order: Codable, JSONCodable {
///     var amount: Int
///     var items: [String]
/// }
/// ```
/// ``AnyJSON/decode(_:)`` reads such a type from a payload.
public protocol JSONCodable: Sendable {
    /// The value as JSON; null when `encode(to:)` of an `Encodable` type throws an error.
    var json: AnyJSON { get }

    /// Returns the value as JSON. Calls that send a value use this method.
    ///
    /// - Throws: `.malformed` when `encode(to:)` of an `Encodable` type throws an error.
    func encoded() throws(ChatError) -> AnyJSON
}

extension JSONCodable {
    /// The value as a plain Swift value: `String`, `Int64`, `Double`, `Bool`, `[any Sendable]` or `[String: any
    /// Sendable]`; nil for null.
    public var rawValue: (any Sendable)? { json.plain }

    /// Returns the value of ``json``.
    ///
    /// - Throws: never. The method is declared as throwing because the encoding of an `Encodable` type can fail.
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension JSONCodable where Self: Encodable {
    /// The encoded value; null when `encode(to:)` throws an error.
    public var json: AnyJSON { (try? encoded()) ?? .null }

    /// The value that `encode(to:)` writes.
    ///
    /// - Throws: `.malformed` when `encode(to:)` throws.
    public func encoded() throws(ChatError) -> AnyJSON { try AnyJSON(encoding: self) }
}

extension AnyJSON: JSONCodable {
    public var json: AnyJSON { self }

    public func encoded() throws(ChatError) -> AnyJSON { self }

    fileprivate var plain: (any Sendable)? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.plain)
        case .object(let members): members.mapValues(\.plain)
        }
    }
}

extension String: JSONCodable {
    public var json: AnyJSON { .string(self) }
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension Bool: JSONCodable {
    public var json: AnyJSON { .boolean(self) }
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension Int: JSONCodable {
    public var json: AnyJSON { .integer(Int64(self)) }
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension Int64: JSONCodable {
    public var json: AnyJSON { .integer(self) }
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension Double: JSONCodable {
    public var json: AnyJSON { .double(self) }
    public func encoded() throws(ChatError) -> AnyJSON { json }
}

extension Array: JSONCodable where Element: JSONCodable {
    public var json: AnyJSON { .array(map(\.json)) }

    public func encoded() throws(ChatError) -> AnyJSON {
        .array(try map { element throws(ChatError) in try element.encoded() })
    }
}

extension Dictionary: JSONCodable where Key == String, Value: JSONCodable {
    public var json: AnyJSON { .object(mapValues(\.json)) }

    public func encoded() throws(ChatError) -> AnyJSON {
        var members: [String: AnyJSON] = [:]
        for (name, value) in self { members[name] = try value.encoded() }
        return .object(members)
    }
}

extension Optional: JSONCodable where Wrapped: JSONCodable {
    public var json: AnyJSON { self?.json ?? .null }

    public func encoded() throws(ChatError) -> AnyJSON { try self?.encoded() ?? .null }
}

extension [String: any JSONCodable] {
    /// The dictionary as one JSON object. The dictionary has no property `json`, because a dictionary with values of
    /// the type `any JSONCodable` cannot conform to ``JSONCodable``.
    var object: AnyJSON { .object(mapValues(\.json)) }

    /// Returns the dictionary as one JSON value.
    ///
    /// - Throws: `.malformed` when a value cannot be encoded.
    func encodedObject() throws(ChatError) -> AnyJSON {
        var members: [String: AnyJSON] = [:]
        for (name, value) in self { members[name] = try value.encoded() }
        return .object(members)
    }
}
