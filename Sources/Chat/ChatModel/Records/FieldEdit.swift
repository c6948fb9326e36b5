/// An edit of one field of a record.
public enum FieldEdit<Value: Sendable>: Sendable {
    case keep
    case clear
    case set(Value)
    /// Replaces the value by the result of the closure, which receives the current value; a nil result clears the
    /// field.
    case change(@Sendable (Value?) -> Value?)

    /// Creates an edit that sets the field to a value; nil clears the field.
    public init(_ value: Value?) { self = value.map { .set($0) } ?? .clear }

    /// True for the edit `keep`, which does not change the field.
    public var isKept: Bool { if case .keep = self { true } else { false } }

    /// The value of the field after the edit; nil when the field has none.
    public func applied(to field: Value?) -> Value? {
        switch self {
        case .keep: field
        case .clear: nil
        case .set(let value): value
        case .change(let change): change(field)
        }
    }
}
