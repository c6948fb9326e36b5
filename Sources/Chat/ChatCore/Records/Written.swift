import ChatModel

/// A record after a write, and whether the write created it.
public struct Written<Value: Sendable>: Sendable {
    /// The record as it is after the write.
    public let record: Value
    /// True when the write created the record.
    public let isNew: Bool
}

extension Decided {
    /// Returns a record as this step wrote it; nil when the step did not write it.
    func record(_ key: RecordKey) -> Record? { records.first { $0.key == key } }
}
