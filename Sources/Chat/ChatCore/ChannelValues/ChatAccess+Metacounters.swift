public import ChatModel
import JSON

/// The way in which a request changes a counter: it sets, increments or decrements the counter.
public enum CounterMode: String, Sendable, CaseIterable { case set, inc, dec }

extension ValueKind<Int64> {
    fileprivate static let counters = ValueKind(
        kind: .channelCounters, subject: "channel.metacounter", member: "metacounter", read: \.integer,
        print: { $1.integer($0) })
}

extension ChatAccess {
    /// Returns the counters that an app stores with a channel, by key, and their version. The channel needs no record.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel; the errors of the store.
    public func metacounters(of channel: String) async throws(ChatError) -> (counters: [ExactText: Int64], etag: String)
    {
        let (counters, etag) = try await values(.counters, of: channel)
        return (counters, etag)
    }

    /// Creates counters. Requires an operator of the channel.
    ///
    /// - Throws: `.conflict` when a key already exists; `.malformed` for a bad key or too many keys in one call;
    ///   `.tooMany` when the channel would have too many keys; `.stale` when the version of the counters is not `etag`;
    ///   `.forbidden` when the caller may not change the counters.
    public func createMetacounters(
        _ counters: [ExactText: Int64], of channel: String, by named: String?, ifMatch etag: String? = nil
    ) async throws(ChatError) -> [ExactText: Int64] {
        try check(counters.keys, of: "metacounters")
        let context = try context(.counters, of: channel, "created", by: named, ifMatch: etag, isGuarded: true)
        let most = limits.valuesPerChannel
        return try await change(context) { values throws(ChatError) in try values.create(counters, most: most) }.touched
    }

    /// Changes counters in one commit, so that concurrent increments all count. Every caller who may emit in the
    /// channel may increment and decrement. Setting, creating and removing counters require an operator of the channel.
    ///
    /// - Parameters:
    ///   - adding: true to create keys that do not exist, with the old value 0; false to ignore them.
    ///   - removing: keys to remove in the same commit.
    /// - Returns: the changed and created counters with their new values, and the created keys.
    /// - Throws: the errors of `createMetacounters`; `.conflict` when the value of a counter would not fit into 64
    ///   bits.
    public func updateMetacounters(
        _ counters: [ExactText: Int64], _ mode: CounterMode, adding: Bool, removing: [String] = [],
        of channel: String, by named: String?, ifMatch etag: String? = nil
    ) async throws(ChatError) -> (counters: [ExactText: Int64], created: Set<ExactText>) {
        try check(Array(counters.keys) + removing.map { ExactText($0) }, of: "metacounters")
        let context = try context(
            .counters, of: channel, "updated", by: named, ifMatch: etag,
            isGuarded: mode == .set || adding || !removing.isEmpty)
        let most = limits.valuesPerChannel
        let change = try await change(context, more: { $0.member("mode", mode.rawValue) }) { values throws(ChatError) in
            try values.set(counters, adding: adding, removing: removing, most: most) { old, given throws(ChatError) in
                try mode.apply(given, to: old ?? 0)
            }
        }
        return (change.touched, Set(change.created.keys))
    }

    /// Removes counters. Requires an operator of the channel. Keys that do not exist are ignored.
    ///
    /// - Parameter keys: the keys to remove; nil removes all.
    /// - Returns: the keys that were removed.
    /// - Throws: `.stale` when the version of the counters is not `etag`; `.forbidden` when the caller may not change
    ///   the counters.
    @discardableResult
    public func deleteMetacounters(
        _ keys: [String]? = nil, of channel: String, by named: String?, ifMatch etag: String? = nil
    ) async throws(ChatError) -> [String] {
        try await remove(
            keys, try context(.counters, of: channel, "deleted", by: named, ifMatch: etag, isGuarded: true))
    }
}

extension CounterMode {
    fileprivate func apply(_ given: Int64, to old: Int64) throws(ChatError) -> Int64 {
        let (value, isOver) =
            switch self {
            case .set: (given, false)
            case .inc: old.addingReportingOverflow(given)
            case .dec: old.subtractingReportingOverflow(given)
            }
        guard !isOver else {
            throw ChatError(.conflict, "the new value of the counter would exceed 64 bits; the current value is \(old)")
        }
        return value
    }
}
