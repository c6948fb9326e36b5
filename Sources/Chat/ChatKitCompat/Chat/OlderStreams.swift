// The sequences of older versions of PubNub's SDK. A sequence connects when it is created, and its listener ends with
// the sequence.

extension ChannelImpl {
    /// Yields each message that is sent to the channel.
    @available(*, deprecated, renamed: "stream.messages")
    public func connect() -> AsyncStream<MessageImpl> { stream.messages() }

    /// Yields the ids of all typing users, each time a user starts or stops typing.
    @available(*, deprecated, renamed: "stream.typingChanges")
    public func getTyping() -> AsyncStream<[String]> { stream.typingChanges() }

    /// Yields the ids of all present users, each time a user becomes present or stops being present.
    @available(*, deprecated, renamed: "stream.presenceChanges")
    public func streamPresence() -> AsyncStream<Set<String>> { stream.presenceChanges() }

    /// Yields the channel after each change of its record, and nil when the record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<ChannelImpl?> { .following { streamUpdates(callback: $0) } }

    /// Yields all of the given channels each time one of the channels changes. Channels whose records are deleted are
    /// left out.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each channel")
    public static func streamUpdatesOn(channels: [ChannelImpl]) -> AsyncStream<[ChannelImpl]> {
        .following { streamUpdatesOn(channels: channels, callback: $0) }
    }

    /// Yields the read marks of all members each time a member has read newer messages. An element contains the ids of
    /// the members, grouped by the timetoken of the newest message that they have read.
    @available(*, deprecated, message: "use stream.readReceipts() and fetchReadReceipts")
    public func streamReadReceipts() -> AsyncStream<[Timetoken: [String]]> {
        .following { streamReadReceipts(callback: $0) }
    }

    /// Yields each report of a message of the channel. The chat's user must be a moderator of the channel.
    @available(*, deprecated, renamed: "stream.reports")
    public func streamMessageReports() -> AsyncStream<EventWrapper<EventContent.Report>> {
        .following { yield in streamMessageReports { yield(EventWrapper(event: $0)) } }
    }
}

extension ThreadChannelImpl {
    /// Yields each new reply.
    @available(*, deprecated, message: "use onMessageReceived")
    public func connect() -> AsyncStream<MessageImpl> { .following { onMessageReceived(callback: $0) } }
}

extension ChannelGroupImpl {
    /// Yields each message that is sent to a channel of the group.
    @available(*, deprecated, message: "use onMessageReceived")
    public func connect() -> AsyncStream<MessageImpl> { .following { onMessageReceived(callback: $0) } }

    /// Yields the ids of the present users by channel id, after each presence change in the group's channels.
    @available(*, deprecated, message: "use onPresenceChanged")
    public func streamPresence() -> AsyncStream<[String: [String]]> { .following { onPresenceChanged(callback: $0) } }

    /// The older name of ``onPresenceChanged(callback:)``.
    @available(*, deprecated, renamed: "onPresenceChanged")
    public func streamPresence(callback: @escaping ([String: [String]]) -> Void) -> any AutoCloseable {
        onPresenceChanged(callback: callback)
    }
}

extension UserImpl {
    /// Yields the user after each change of the record, and nil when the record is deleted.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<UserImpl?> { .following { streamUpdates(callback: $0) } }

    /// Yields all of the given users each time one of the users changes. Users whose records are deleted are left out.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each user")
    public static func streamUpdatesOn(users: [UserImpl]) -> AsyncStream<[UserImpl]> {
        .following { streamUpdatesOn(users: users, callback: $0) }
    }
}

extension MembershipImpl {
    /// Yields the membership after each change, and nil when the membership ends.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions()")
    public func streamUpdates() -> AsyncStream<MembershipImpl?> { .following { streamUpdates(callback: $0) } }

    /// Yields all of the given memberships each time one of the memberships changes. Memberships that have ended are
    /// left out.
    @available(*, deprecated, message: "use stream.updates() and stream.deletions() of each membership")
    public static func streamUpdatesOn(memberships: [MembershipImpl]) -> AsyncStream<[MembershipImpl]> {
        .following { streamUpdatesOn(memberships: memberships, callback: $0) }
    }
}

extension MessageImpl {
    /// Yields the message after each edit, deletion, reaction and reply.
    @available(*, deprecated, renamed: "stream.updates")
    public func streamUpdates() -> AsyncStream<MessageImpl> { stream.updates() }

    /// Yields all of the given messages each time one of the messages changes.
    @available(*, deprecated, message: "use stream.updates() of each message")
    public static func streamUpdatesOn(messages: [MessageImpl]) -> AsyncStream<[MessageImpl]> {
        .following { streamUpdatesOn(messages: messages, callback: $0) }
    }
}

extension ChatImpl {
    /// Yields each event on a channel whose content is of the class `type`.
    ///
    /// - Parameter customMethod: selects the custom events that were sent by this method; other custom events are left
    ///   out. The parameter has no effect when `type` is not ``EventContent/Custom``.
    @available(*, deprecated, message: "use the stream of ChannelImpl and UserImpl")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type, channelId: String, customMethod: EmitEventMethod = .publish
    ) -> AsyncStream<EventWrapper<Content>> {
        .following { listenForEvents(type: type, channelId: channelId, customMethod: customMethod, callback: $0) }
    }
}

/// The events of a channel group's channels as sequences. At most 1000 elements wait for a slow reader; then the oldest
/// are dropped.
public struct ChannelGroupStream: Sendable {
    let group: ChannelGroupImpl

    /// Yields each message that is sent to a channel of the group.
    public func messages() -> AsyncStream<MessageImpl> { .following { group.onMessageReceived(callback: $0) } }
    /// Yields the ids of the present users by channel id, after each presence change in the group's channels.
    public func presenceChanges() -> AsyncStream<[String: [String]]> {
        .following { group.onPresenceChanged(callback: $0) }
    }
}

extension ChannelGroupImpl {
    /// The events of the group's channels as sequences.
    public var stream: ChannelGroupStream { ChannelGroupStream(group: self) }
}
