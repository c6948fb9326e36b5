/// What becomes of one field of a record.
public enum FieldEdit<Value: Sendable>: Sendable {
    case keep
    case clear
    case set(Value)
    /// The field becomes what the function makes of it; nil clears it.
    case change(@Sendable (Value?) -> Value?)

    /// Sets the value, or clears the field where there is none.
    public init(_ value: Value?) { self = value.map { .set($0) } ?? .clear }

    public func applied(to field: Value?) -> Value? {
        switch self {
        case .keep: field
        case .clear: nil
        case .set(let value): value
        case .change(let change): change(field)
        }
    }
}
