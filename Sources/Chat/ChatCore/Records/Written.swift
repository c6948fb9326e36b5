import ChatModel

/// A record after a write, and whether the write created it.
public struct Written<Value: Sendable>: Sendable {
    /// The record as it is stored now.
    public let record: Value
    /// True when the write created the record.
    public let isNew: Bool
}

extension Decided {
    /// The record as this step left it; nil when the step did not write it.
    func record(_ key: RecordKey) -> Record? { records.first { $0.key == key } }
}

extension Timetoken {
    /// The time in milliseconds, as events of the catalogue contain it.
    var milliseconds: UInt64 { rawValue / (Self.ticksPerSecond / 1000) }
}
