public import ChatModel

extension Channel {
    /// Returns the metadata of the channel: texts by key, which the app stores with the channel.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors common to all calls (see ``Chat``).
    public func getMetaData() async throws(ChatError) -> [String: String] { try await chat.backend.metadata(of: id) }

    /// Adds metadata. The user must be a moderator of the channel, as for every change of the metadata.
    ///
    /// - Throws: `.conflict` when one of the keys already exists.
    @discardableResult
    public func createMetaData(_ metaData: [String: String]) async throws(ChatError) -> [String: String] {
        try await chat.backend.create(metadata: metaData, of: id)
    }

    /// Changes metadata. Returns the texts that were changed or added. The user must be a moderator of the channel.
    ///
    /// - Parameter upsert: true also adds keys that do not exist; false ignores them.
    /// - Throws: `.forbidden` when the user is not a moderator; `.malformed` for an invalid key or text; `.tooMany` for
    ///   too many keys; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func updateMetaData(
        _ metaData: [String: String], upsert: Bool = true
    ) async throws(ChatError) -> [String: String] {
        try await chat.backend.update(metadata: metaData, adding: upsert, of: id)
    }

    /// Removes one key of the metadata. Does nothing when the key does not exist.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator; the errors common to all calls (see ``Chat``).
    public func deleteMetaData(key: String) async throws(ChatError) {
        try await chat.backend.delete(metadata: key, of: id)
    }

    /// Removes all metadata.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator; the errors common to all calls (see ``Chat``).
    public func deleteAllMetaData() async throws(ChatError) { try await chat.backend.delete(metadata: nil, of: id) }
}

extension Channel {
    /// Returns the counters that the app stores with the channel, by key.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors common to all calls (see ``Chat``).
    public func getMetaCounters() async throws(ChatError) -> [String: Int] { try await chat.backend.counters(of: id) }

    /// Adds counters. The user must be a moderator of the channel.
    ///
    /// - Throws: `.conflict` when one of the keys already exists.
    @discardableResult
    public func createMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.create(counters: counters, of: id)
    }

    /// Sets counters. Returns the counters that were set or added. The user must be a moderator of the channel.
    ///
    /// - Parameter upsert: true also adds keys that do not exist; false ignores them.
    /// - Throws: `.forbidden` when the user is not a moderator; `.malformed` for an invalid key; `.tooMany` for too
    ///   many keys; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func updateMetaCounters(
        _ counters: [String: Int], upsert: Bool = true
    ) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .set, adding: upsert, of: id)
    }

    /// Increases counters atomically. Returns their new values. Concurrent calls lose no increment. Every user who may
    /// write in the channel may call this.
    ///
    /// - Throws: `.forbidden` when the user may not write in the channel; `.malformed` for an invalid key; `.conflict`
    ///   when a counter would exceed 64 bits; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func increaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .increase, adding: false, of: id)
    }

    /// Decreases counters atomically. Returns their new values. See ``increaseMetaCounters(_:)``.
    ///
    /// - Throws: the errors of ``increaseMetaCounters(_:)``.
    @discardableResult
    public func decreaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .decrease, adding: false, of: id)
    }

    /// Removes a counter. Does nothing when the key does not exist.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator; the errors common to all calls (see ``Chat``).
    public func deleteMetaCounter(key: String) async throws(ChatError) {
        try await chat.backend.delete(counter: key, of: id)
    }

    /// Removes all counters.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator; the errors common to all calls (see ``Chat``).
    public func deleteAllMetaCounters() async throws(ChatError) { try await chat.backend.delete(counter: nil, of: id) }
}
