public import ChatModel
import JSON

extension ValueKind<String> {
    fileprivate static let metadata = ValueKind(
        kind: .channelMetadata, subject: "channel.metadata", member: "metadata", read: \.string,
        print: { $1.string($0) })
}

extension ChatAccess {
    /// Returns the metadata of a channel: texts that an app stores with it, by key, and their version. The channel
    /// needs no record.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel; the errors of the store.
    public func metadata(of channel: String) async throws(ChatError) -> (texts: [ExactText: String], etag: String) {
        let (texts, etag) = try await values(.metadata, of: channel)
        return (texts, etag)
    }

    /// Creates metadata texts. Requires an operator of the channel.
    ///
    /// - Throws: `.conflict` when a key already exists; `.malformed` for a bad key or text, or too many keys in one
    ///   call; `.tooMany` when the channel would have too many keys; `.stale` when the version of the metadata is not
    ///   `etag`; `.forbidden` when the caller may not change the metadata.
    public func createMetadata(
        _ texts: [ExactText: String], of channel: String, by named: String?, ifMatch etag: String? = nil
    ) async throws(ChatError) -> [ExactText: String] {
        let context = try guarded(texts, [], channel, "created", named, etag)
        let most = limits.valuesPerChannel
        return try await change(context) { values throws(ChatError) in try values.create(texts, most: most) }.touched
    }

    /// Changes metadata texts. Requires an operator of the channel.
    ///
    /// - Parameters:
    ///   - adding: true to create keys that do not exist; false to ignore them.
    ///   - removing: keys to remove in the same commit.
    /// - Returns: the changed and created texts, and the created keys.
    /// - Throws: the errors of `createMetadata`.
    public func updateMetadata(
        _ texts: [ExactText: String], adding: Bool, removing: [String] = [], of channel: String, by named: String?,
        ifMatch etag: String? = nil
    ) async throws(ChatError) -> (texts: [ExactText: String], created: Set<ExactText>) {
        let context = try guarded(texts, removing, channel, "updated", named, etag)
        let most = limits.valuesPerChannel
        let change = try await change(context) { values throws(ChatError) in
            // A text that is already stored is not changed and not announced.
            let new = texts.filter { values.values[$0.key] != $0.value }
            return try values.set(new, adding: adding, removing: removing, most: most) { _, new in new }
        }
        return (change.touched, Set(change.created.keys))
    }

    /// Removes metadata texts. Requires an operator of the channel. Keys that do not exist are ignored.
    ///
    /// - Parameter keys: the keys to remove; nil removes all.
    /// - Returns: the keys that were removed.
    /// - Throws: `.stale` when the version of the metadata is not `etag`; `.forbidden` when the caller may not change
    ///   the metadata.
    @discardableResult
    public func deleteMetadata(
        _ keys: [String]? = nil, of channel: String, by named: String?, ifMatch etag: String? = nil
    ) async throws(ChatError) -> [String] {
        try await remove(
            keys, try context(.metadata, of: channel, "deleted", by: named, ifMatch: etag, isGuarded: true))
    }

    /// The allowed length of a metadata text in Unicode scalars.
    public static var metadataLength: ClosedRange<Int> { 0...190 }

    private func guarded(
        _ texts: [ExactText: String], _ removed: [String], _ channel: String, _ verb: String, _ named: String?,
        _ etag: String?
    ) throws(ChatError) -> ChannelValuesContext<String> {
        try check(Array(texts.keys) + removed.map { ExactText($0) }, of: "metadata")
        for text in texts.values { try Self.check(text, "a text", Self.metadataLength, field: "metadata") }
        return try context(.metadata, of: channel, verb, by: named, ifMatch: etag, isGuarded: true)
    }
}
