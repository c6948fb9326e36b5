/// A bounded cache that keeps the entries used since the last two turnovers. It is cheaper than LRU, which writes on
/// every hit; a hit here is one lookup.
public struct GenerationCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generation: Int

    /// - Parameter capacity: the maximum number of entries. At least the most recently used half is kept.
    public init(capacity: Int) { generation = max(1, capacity / 2) }

    /// The cached value; nil when there is none. Counts as a use.
    public mutating func value(of key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, for: key)
        return value
    }

    /// Adds or replaces a value. A full cache first drops the entries that were not used since the last turnover.
    public mutating func insert(_ value: Value, for key: Key) {
        if young.count >= generation, young[key] == nil {
            old = young
            young = Dictionary(minimumCapacity: generation)
        }
        young[key] = value
    }

    /// Removes one entry; does nothing when there is none.
    public mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }

    /// Removes every entry; the memory stays reserved for new ones.
    public mutating func removeAll() {
        young.removeAll(keepingCapacity: true)
        old.removeAll(keepingCapacity: true)
    }
}

extension GenerationCache: Sendable where Key: Sendable, Value: Sendable {}
