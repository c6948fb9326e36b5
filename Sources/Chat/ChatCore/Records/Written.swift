import ChatModel

/// A record after a write, and whether the write made it.
public struct Written<Value: Sendable>: Sendable {
    public let record: Value
    public let isNew: Bool
}

extension Decided {
    /// The record as this step left it; nil when the step did not touch it.
    func record(_ key: RecordKey) -> Record? { records.first { $0.key == key } }
}

extension Timetoken {
    /// As events of the catalogue give moments.
    var milliseconds: UInt64 { rawValue / (Self.ticksPerSecond / 1000) }
}
