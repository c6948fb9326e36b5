public import ChatModel

extension Channel {
    /// Sends any JSON as a message.
    ///
    /// - Parameters:
    ///   - meta: facts about the message that filters can read.
    ///   - customMessageType: a label, 1 to 64 bytes.
    ///   - shouldStore: whether history keeps it.
    ///   - storeTTL: how many hours history keeps it; nil: as long as the app keeps events.
    @discardableResult
    public func publish(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil, customMessageType: String? = nil,
        shouldStore: Bool = true, storeTTL: Int? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.message, on: id, data: message.json.text)
        posting.meta = meta?.object.text
        posting.customType = customMessageType
        posting.isStored = shouldStore
        posting.hours = shouldStore ? storeTTL : nil
        return try await chat.backend.post(posting)
    }

    /// Sends something small (64 bytes of JSON by default) that nobody keeps.
    @discardableResult
    public func signal(
        _ message: any JSONCodable, customMessageType: String? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.signal, on: id, data: message.json.text)
        posting.customType = customMessageType
        return try await chat.backend.post(posting)
    }

    /// Tells webhooks alone: no subscriber hears it and history does not keep it.
    @discardableResult
    public func fire(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.fire, on: id, data: message.json.text)
        posting.meta = meta?.object.text
        return try await chat.backend.post(posting)
    }
}
