import ChatModel

/// A channel as one user of the chat sees it. A value: what is done to the channel shows in the next one that is read.
public struct Channel: Sendable, Identifiable {
    public let chat: Chat
    public let id: String

    init(chat: Chat, id: String) {
        self.chat = chat
        self.id = id
    }

    /// Sequences of what happens in the channel; for each there is an `on…` with a closure.
    public var stream: ChannelStreams { ChannelStreams(channel: self) }
}

/// The sequences of a ``Channel``.
public struct ChannelStreams: Sendable {
    let channel: Channel

    /// Values made of the channel's events of some types.
    func events<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        ChatStream(
            chat: channel.chat, selection: EventSelection(channels: [channel.id], types: types),
            transform: { event in await transform(event).map { [$0] } ?? [] })
    }
}
