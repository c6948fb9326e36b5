/// A bounded cache that drops entries which were not used recently. Entries are in two generations, young and old. When
/// the young generation is full, the old one is dropped and the young one becomes old.
///
/// A hit in the young generation is one lookup without a write, so the cache is cheaper than an LRU cache.
public struct GenerationCache<Key: Hashable, Value> {
    @usableFromInline var young: [Key: Value] = [:]
    @usableFromInline var old: [Key: Value] = [:]
    @usableFromInline let generation: Int

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: the maximum number of entries. The cache keeps at least the `capacity / 2` most recently
    ///   used entries.
    @inlinable public init(capacity: Int) { generation = max(1, capacity / 2) }

    /// The cached value; nil when there is none. Reading a value counts as a use.
    @inlinable public mutating func value(of key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, for: key)
        return value
    }

    /// Adds or replaces a value. If the young generation is full, the entries of the old generation are dropped first.
    @inlinable public mutating func insert(_ value: Value, for key: Key) {
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
