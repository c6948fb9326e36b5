public import ChatModel

extension Channel {
    /// Sends an event of the app's own to everybody who listens to the channel.
    ///
    /// ```swift
    /// try await channel.emitCustomEvent(payload: ["chatID": "42", "customer": "ana"], messageType: "customer-satisfaction")
    /// ```
    ///
    /// - Parameters:
    ///   - messageType: the event's type; nil: `custom`.
    ///   - storeInHistory: whether ``Chat/getEventsHistory(channelId:startTimetoken:endTimetoken:count:)`` will have it.
    /// - Throws: `.malformed` for a type that is built in, `.invalid` when the payload is not what the type's schema says.
    @discardableResult
    public func emitCustomEvent(
        payload: [String: any JSONCodable], messageType: String? = nil, storeInHistory: Bool = true
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.event(type: messageType), on: id, data: payload.object.text)
        posting.isStored = storeInHistory
        return try await chat.backend.post(posting)
    }

    /// Calls back with each event of the app's own on this channel.
    ///
    /// - Parameter messageType: only events of this type; nil: all.
    public func onCustomEvent(
        messageType: String? = nil, callback: @escaping @Sendable (CustomEvent) -> Void
    ) -> AutoCloseable {
        stream.customEvents(messageType: messageType).listen { callback($0) }
    }
}

extension ChannelStreams {
    /// Events of the app's own on the channel.
    public func customEvents(messageType: String? = nil) -> ChatStream<CustomEvent> {
        events(of: messageType.map { [$0] } ?? []) { event in event.isCustom ? CustomEvent(event) : nil }
    }
}
