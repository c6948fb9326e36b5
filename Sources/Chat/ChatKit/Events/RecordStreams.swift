import ChatModel

/// The sequences of a ``Channel``.
public struct ChannelStreams: Sendable {
    let channel: Channel

    /// Values made of the channel's events of some types.
    func events<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        channel.chat.events(of: types, on: [channel.id], transform)
    }
}

/// The sequences of a ``User``.
public struct UserStreams: Sendable {
    let user: User
}

/// The sequences of a ``Membership``.
public struct MembershipStreams: Sendable {
    let membership: Membership
}

extension Chat {
    /// Values made of events of some types on some channels.
    func events<Value: Sendable>(
        of types: [String], on channels: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        ChatStream(
            chat: self, selection: EventSelection(channels: channels, types: types),
            transform: { event in await transform(event).map { [$0] } ?? [] })
    }

    /// Values made of what a device of the chat's user hears.
    func deviceEvents<Value: Sendable>(
        of types: [String] = [], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        var selection = EventSelection(types: types)
        selection.isDevice = true
        return ChatStream(
            chat: self, selection: selection, transform: { event in await transform(event).map { [$0] } ?? [] })
    }
}
