/// What can be said in JSON: texts, numbers, truth values, lists and objects of them, and ``AnyJSON``.
public protocol JSONCodable: Sendable {
    var json: AnyJSON { get }
}

extension JSONCodable {
    /// The plain value of Swift: `String`, `Int64`, `Double`, `Bool`, `[any Sendable]`, `[String: any Sendable]`; nil for
    /// null.
    public var rawValue: (any Sendable)? { json.plain }
}

extension AnyJSON: JSONCodable {
    public var json: AnyJSON { self }

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

extension String: JSONCodable { public var json: AnyJSON { .string(self) } }
extension Bool: JSONCodable { public var json: AnyJSON { .boolean(self) } }
extension Int: JSONCodable { public var json: AnyJSON { .integer(Int64(self)) } }
extension Int64: JSONCodable { public var json: AnyJSON { .integer(self) } }
extension Double: JSONCodable { public var json: AnyJSON { .double(self) } }

extension Array: JSONCodable where Element: JSONCodable {
    public var json: AnyJSON { .array(map(\.json)) }
}

extension Dictionary: JSONCodable where Key == String, Value: JSONCodable {
    public var json: AnyJSON { .object(mapValues(\.json)) }
}

extension Optional: JSONCodable where Wrapped: JSONCodable {
    public var json: AnyJSON { self?.json ?? .null }
}

extension [String: any JSONCodable] {
    /// The same as one value; by a name of its own, since existentials do not conform to their protocol.
    var object: AnyJSON { .object(mapValues(\.json)) }
}
