public import ChatModel

extension Channel {
    /// The texts that the app keeps with the channel, by their keys.
    public func getMetaData() async throws(ChatError) -> [String: String] { try await chat.backend.metadata(of: id) }

    /// Adds texts; for those who moderate the channel, as all that changes them.
    ///
    /// - Throws: `.conflict` when there is one of the keys already.
    @discardableResult
    public func createMetaData(_ metaData: [String: String]) async throws(ChatError) -> [String: String] {
        try await chat.backend.create(metadata: metaData, of: id)
    }

    /// Changes texts, and returns those that were changed or added.
    ///
    /// - Parameter upsert: whether keys that are not there are added; they are left out otherwise.
    @discardableResult
    public func updateMetaData(
        _ metaData: [String: String], upsert: Bool = true
    ) async throws(ChatError) -> [String: String] {
        try await chat.backend.update(metadata: metaData, adding: upsert, of: id)
    }

    /// Removes a text; nothing happens when there is none.
    public func deleteMetaData(key: String) async throws(ChatError) {
        try await chat.backend.delete(metadata: key, of: id)
    }

    public func deleteAllMetaData() async throws(ChatError) { try await chat.backend.delete(metadata: nil, of: id) }
}

extension Channel {
    /// The counters that the app keeps with the channel, by their keys.
    public func getMetaCounters() async throws(ChatError) -> [String: Int] { try await chat.backend.counters(of: id) }

    /// Adds counters; for those who moderate the channel.
    ///
    /// - Throws: `.conflict` when there is one of the keys already.
    @discardableResult
    public func createMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.create(counters: counters, of: id)
    }

    /// Sets counters, and returns those that were set or added; for those who moderate the channel.
    ///
    /// - Parameter upsert: whether keys that are not there are added; they are left out otherwise.
    @discardableResult
    public func updateMetaCounters(
        _ counters: [String: Int], upsert: Bool = true
    ) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .set, adding: upsert, of: id)
    }

    /// Counts up in one step, so that nothing is lost however many do it at once; for everybody who may write. Returns
    /// the counters as they are then.
    @discardableResult
    public func increaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .increase, adding: false, of: id)
    }

    /// Counts down; as ``increaseMetaCounters(_:)``.
    @discardableResult
    public func decreaseMetaCounters(_ counters: [String: Int]) async throws(ChatError) -> [String: Int] {
        try await chat.backend.update(counters: counters, .decrease, adding: false, of: id)
    }

    /// Removes a counter; nothing happens when there is none.
    public func deleteMetaCounter(key: String) async throws(ChatError) {
        try await chat.backend.delete(counter: key, of: id)
    }

    public func deleteAllMetaCounters() async throws(ChatError) { try await chat.backend.delete(counter: nil, of: id) }
}
