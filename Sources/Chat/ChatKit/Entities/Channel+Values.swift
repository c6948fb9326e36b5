public import ChatModel

extension Channel {
    /// Returns the texts that the app stores with the channel, by key.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors of every call (``Chat``).
    public func getMetaData() async throws(ChatError) -> [String: String] { try await chat.backend.metadata(of: id) }

    /// Adds texts. Requires a moderator of the channel, as does every change of the texts.
    ///
    /// - Throws: `.conflict` when one of the keys exists already.
    @discardableResult
    public func createMetaData(_ metaData: [String: String]) async throws(ChatError) -> [String: String] {
        try await chat.backend.create(metadata: metaData, of: id)
    }

    /// Changes texts and returns those that were changed or added. Requires a moderator of the channel.
    ///
    /// - Parameter upsert: true adds missing keys; false leaves them out.
    /// - Throws: `.forbidden` when the user is no moderator; `.malformed` for a key or text; `.tooMany` for too many
    ///   keys; the errors of every call (``Chat``).
    @discardableResult
    public func updateMetaData(
        _ metaData: [String: String], upsert: Bool = true
    ) async throws(ChatError) -> [String: String] {
        try await chat.backend.update(metadata: metaData, adding: upsert, of: id)
    }

    /// Removes a text. Does nothing when the key does not exist.
    ///
    /// - Throws: `.forbidden` when the user is no moderator; the errors of every call (``Chat``).
    public func deleteMetaData(key: String) async throws(ChatError) {
        try await chat.backend.delete(metadata: key, of: id)
    }

    /// Removes all texts.
    ///
    /// - Throws: `.forbidden` when the user is no moderator; the errors of every call (``Chat``).
    public func deleteAllMetaData() async throws(ChatError) { try await chat.backend.delete(metadata: nil, of: id) }
}

extension Channel {
    /// Returns the counters that the app stores with the channel, by key.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors of every call (``Chat``).
    public func getMetaCounters() async throws(ChatError) -> [String: Int] { try await chat.backend.counters(of: id) }

    /// Adds counters. Requires a moderator of the channel.
    ///
    /// - Throws: `.conflict` when one of the keys exists already.
    @discardableResult
    public func createMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.create(counters: counters, of: id)
    }

    /// Sets counters and returns those that were set or added. Requires a moderator of the channel.
    ///
    /// - Parameter upsert: true adds missing keys; false leaves them out.
    /// - Throws: `.forbidden` when the user is no moderator; `.malformed` for a key; `.tooMany` for too many keys; the
    ///   errors of every call (``Chat``).
    @discardableResult
    public func updateMetaCounters(
        _ counters: [String: Int], upsert: Bool = true
    ) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .set, adding: upsert, of: id)
    }

    /// Increases counters atomically and returns their new values. Concurrent calls lose no increment. Allowed for
    /// every user who may write in the channel.
    ///
    /// - Throws: `.forbidden` when the user may not write in the channel; `.malformed` for a key; `.conflict` when a
    ///   counter would exceed 64 bits; the errors of every call (``Chat``).
    @discardableResult
    public func increaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .increase, adding: false, of: id)
    }

    /// Decreases counters; otherwise like ``increaseMetaCounters(_:)``.
    ///
    /// - Throws: as ``increaseMetaCounters(_:)``.
    @discardableResult
    public func decreaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .decrease, adding: false, of: id)
    }

    /// Removes a counter. Does nothing when the key does not exist.
    ///
    /// - Throws: `.forbidden` when the user is no moderator; the errors of every call (``Chat``).
    public func deleteMetaCounter(key: String) async throws(ChatError) {
        try await chat.backend.delete(counter: key, of: id)
    }

    /// Removes all counters.
    ///
    /// - Throws: `.forbidden` when the user is no moderator; the errors of every call (``Chat``).
    public func deleteAllMetaCounters() async throws(ChatError) { try await chat.backend.delete(counter: nil, of: id) }
}
