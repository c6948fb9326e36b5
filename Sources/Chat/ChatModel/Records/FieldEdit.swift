/// An edit of one field of a record.
public enum FieldEdit<Value: Sendable>: Sendable {
    case keep
    case clear
    case set(Value)
    /// Replaces the field by the function's result; nil clears it.
    case change(@Sendable (Value?) -> Value?)

    /// Sets the value, or clears the field when it is nil.
    public init(_ value: Value?) { self = value.map { .set($0) } ?? .clear }

    /// True for an edit that leaves the field as it is.
    public var isKept: Bool { if case .keep = self { true } else { false } }

    /// The field after the edit; nil when it has no value.
    public func applied(to field: Value?) -> Value? {
        switch self {
        case .keep: field
        case .clear: nil
        case .set(let value): value
        case .change(let change): change(field)
        }
    }
}
