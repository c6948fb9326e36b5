import ChatModel

/// A record after a write, and whether the write created it.
public struct Written<Value: Sendable>: Sendable {
    /// The record as it is after the write.
    public let record: Value
    /// True when the write created the record.
    public let isNew: Bool
}

extension Decided {
    /// Returns the record with this key as the decision has written it; nil when the decision did not write it.
    func record(_ key: RecordKey) -> Record? { records.first { $0.key == key } }
}
