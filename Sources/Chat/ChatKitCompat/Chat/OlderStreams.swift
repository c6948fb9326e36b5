// The sequences of the older generation. Each connects at once, and its listener ends with it.

extension ChannelImpl {
    /// The messages that are sent to the channel.
    @available(*, deprecated, renamed: "stream.messages")
    public func connect() -> AsyncStream<MessageImpl> { stream.messages() }

    /// The ids of all typing users after each change.
    @available(*, deprecated, renamed: "stream.typingChanges")
    public func getTyping() -> AsyncStream<[String]> { stream.typingChanges() }

    /// The ids of all present users after each change.
    @available(*, deprecated, renamed: "stream.presenceChanges")
    public func streamPresence() -> AsyncStream<Set<String>> { stream.presenceChanges() }

    /// The channel after each change; nil when its record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<ChannelImpl?> { .following { streamUpdates(callback: $0) } }

    /// All channels after each change of one of them, without those whose record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each channel")
    public static func streamUpdatesOn(channels: [ChannelImpl]) -> AsyncStream<[ChannelImpl]> {
        .following { streamUpdatesOn(channels: channels, callback: $0) }
    }

    /// The read marks of all members after each change: the users by the message that they have read.
    @available(*, deprecated, message: "use stream.readReceipts() and fetchReadReceipts")
    public func streamReadReceipts() -> AsyncStream<[Timetoken: [String]]> {
        .following { streamReadReceipts(callback: $0) }
    }

    /// The reports of the channel's messages. Requires a moderator of the channel.
    @available(*, deprecated, renamed: "stream.reports")
    public func streamMessageReports() -> AsyncStream<EventWrapper<EventContent.Report>> {
        .following { yield in streamMessageReports { yield(EventWrapper(event: $0)) } }
    }
}

extension ThreadChannelImpl {
    /// The replies that are sent.
    @available(*, deprecated, message: "use onMessageReceived")
    public func connect() -> AsyncStream<MessageImpl> { .following { onMessageReceived(callback: $0) } }
}

extension ChannelGroupImpl {
    /// The messages that are sent to the group's channels.
    @available(*, deprecated, message: "use onMessageReceived")
    public func connect() -> AsyncStream<MessageImpl> { .following { onMessageReceived(callback: $0) } }

    /// The present users of the group's channels after each change.
    @available(*, deprecated, message: "use onPresenceChanged")
    public func streamPresence() -> AsyncStream<[String: [String]]> { .following { onPresenceChanged(callback: $0) } }

    /// Calls back with the present users of the group's channels after each change.
    @available(*, deprecated, renamed: "onPresenceChanged")
    public func streamPresence(callback: @escaping ([String: [String]]) -> Void) -> any AutoCloseable {
        onPresenceChanged(callback: callback)
    }
}

extension UserImpl {
    /// The user after each change; nil when the record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<UserImpl?> { .following { streamUpdates(callback: $0) } }

    /// All users after each change of one of them, without those whose record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each user")
    public static func streamUpdatesOn(users: [UserImpl]) -> AsyncStream<[UserImpl]> {
        .following { streamUpdatesOn(users: users, callback: $0) }
    }
}

extension MembershipImpl {
    /// The membership after each change; nil when it ends.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<MembershipImpl?> { .following { streamUpdates(callback: $0) } }

    /// All memberships after each change of one of them, without those that have ended.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each membership")
    public static func streamUpdatesOn(memberships: [MembershipImpl]) -> AsyncStream<[MembershipImpl]> {
        .following { streamUpdatesOn(memberships: memberships, callback: $0) }
    }
}

extension MessageImpl {
    /// The message after each edit, deletion, reaction and reply.
    @available(*, deprecated, renamed: "stream.updates")
    public func streamUpdates() -> AsyncStream<MessageImpl> { stream.updates() }

    /// All messages after each change of one of them.
    @available(*, deprecated, message: "use stream.updates() of each message")
    public static func streamUpdatesOn(messages: [MessageImpl]) -> AsyncStream<[MessageImpl]> {
        .following { streamUpdatesOn(messages: messages, callback: $0) }
    }
}

extension ChatImpl {
    /// The events of one content on a channel.
    ///
    /// - Parameter customMethod: the method by which custom events were sent.
    @available(*, deprecated, message: "use the stream of ChannelImpl and UserImpl")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type, channelId: String, customMethod: EmitEventMethod = .publish
    ) -> AsyncStream<EventWrapper<Content>> {
        .following { listenForEvents(type: type, channelId: channelId, customMethod: customMethod, callback: $0) }
    }
}

/// The sequences of the events of a channel group's channels. At most 1000 elements wait for a slow reader; then the
/// oldest are dropped.
public struct ChannelGroupStream: Sendable {
    let group: ChannelGroupImpl

    /// The messages that are sent to the group's channels.
    public func messages() -> AsyncStream<MessageImpl> { .following { group.onMessageReceived(callback: $0) } }
    /// The present users of the group's channels after each change.
    public func presenceChanges() -> AsyncStream<[String: [String]]> {
        .following { group.onPresenceChanged(callback: $0) }
    }
}

extension ChannelGroupImpl {
    /// The sequences of the events of the group's channels.
    public var stream: ChannelGroupStream { ChannelGroupStream(group: self) }
}
