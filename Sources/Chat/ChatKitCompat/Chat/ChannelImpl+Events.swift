import ChatKit
import ChatModel

extension ChannelImpl {
    /// Calls back with each message that is sent to the channel, including the messages of the chat's user. Replies are
    /// left out, because ``ThreadChannelImpl/onMessageReceived(callback:)`` receives them. Messages of muted users are
    /// left out too.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onMessageReceived(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let chat = chat
        return chat.listen(
            { channel.stream.messageReceived() },
            { message in
                guard message.parentTimetoken == nil, !chat.mutedUsersManager.isMuted(message.userId) else {
                    return nil
                }
                return MessageImpl(chat, message, [])
            }, callback)
    }

    /// Calls back with the ids of all typing users, each time a user starts or stops typing.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onTypingChanged(callback: @escaping ([String]) -> Void) -> any AutoCloseable {
        chat.listen({ channel.stream.typingChanged() }, { $0 }, callback)
    }

    /// Calls back with the ids of all present users, each time a user becomes present or stops being present.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onPresenceChanged(callback: @escaping (Set<String>) -> Void) -> any AutoCloseable {
        chat.listen({ channel.stream.presenceChanged() }, { Set($0) }, callback)
    }

    /// Calls back with the channel after its record is created and after each change of the record.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onUpdated(callback: @escaping (ChannelImpl) -> Void) -> any AutoCloseable {
        let chat = chat
        return chat.listen({ channel.stream.updated() }, { ChannelImpl(chat, $0) }, callback)
    }

    /// Calls back when the channel's record is deleted.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onDeleted(callback: @escaping () -> Void) -> any AutoCloseable {
        chat.listen({ channel.stream.deleted() }, { _ in true }, { _ in callback() })
    }

    /// Calls back when a member has read messages. The closure receives the member's new read mark.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onReadReceiptReceived(callback: @escaping (ReadReceipt) -> Void) -> any AutoCloseable {
        chat.listen({ channel.stream.readReceiptReceived() }, { ReadReceipt($0) }, callback)
    }

    /// Calls back with each report of a message of the channel. The chat's user must be a moderator of the channel.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onMessageReported(callback: @escaping (Report) -> Void) -> any AutoCloseable {
        chat.listen({ channel.stream.messageReported() }, { Report($0) }, callback)
    }

    /// Calls back with each event on the channel whose type is one of the app's own types. Events of muted users are
    /// left out.
    ///
    /// - Parameter messageType: the type of the events; nil selects all types.
    /// - Returns: the listener. It ends when it is closed or released.
    public func onCustomEvent(
        messageType: String? = nil, callback: @escaping (CustomEvent) -> Void
    ) -> any AutoCloseable {
        let chat = chat
        return chat.listen(
            { channel.stream.customEvents(messageType: messageType) },
            { chat.mutedUsersManager.isMuted($0.userId) ? nil : CustomEvent($0) }, callback)
    }
}

/// The events of a channel as sequences. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct ChannelStream: Sendable {
    let channel: ChannelImpl

    /// Yields each message that is sent to the channel, except replies and messages of muted users.
    public func messages() -> AsyncStream<MessageImpl> { .following { channel.onMessageReceived(callback: $0) } }
    /// Yields the ids of all typing users, each time a user starts or stops typing.
    public func typingChanges() -> AsyncStream<[String]> { .following { channel.onTypingChanged(callback: $0) } }
    /// Yields the ids of all present users, each time a user becomes present or stops being present.
    public func presenceChanges() -> AsyncStream<Set<String>> {
        .following { channel.onPresenceChanged(callback: $0) }
    }
    /// Yields the channel after each change of its record.
    public func updates() -> AsyncStream<ChannelImpl> { .following { channel.onUpdated(callback: $0) } }
    /// Yields one element when the channel's record is deleted.
    public func deletions() -> AsyncStream<Void> { .following { yield in channel.onDeleted { yield(()) } } }
    /// Yields the new read mark of a member who has read messages.
    public func readReceipts() -> AsyncStream<ReadReceipt> {
        .following { channel.onReadReceiptReceived(callback: $0) }
    }
    /// Yields each event on the channel whose type is one of the app's own types.
    ///
    /// - Parameter messageType: the type of the events; nil selects all types.
    public func customEvents(messageType: String? = nil) -> AsyncStream<CustomEvent> {
        .following { channel.onCustomEvent(messageType: messageType, callback: $0) }
    }
    /// Yields each report of a message of the channel. The chat's user must be a moderator of the channel.
    public func reports() -> AsyncStream<Report> { .following { channel.onMessageReported(callback: $0) } }
}

// MARK: - Older names

extension ChannelImpl {
    /// The older name of ``onMessageReceived(callback:)``.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onMessageReceived(callback: callback)
    }

    /// The older name of ``onTypingChanged(callback:)``.
    @available(*, deprecated, renamed: "onTypingChanged")
    public func getTyping(callback: @escaping ([String]) -> Void) -> any AutoCloseable {
        onTypingChanged(callback: callback)
    }

    /// The older name of ``onPresenceChanged(callback:)``.
    @available(*, deprecated, renamed: "onPresenceChanged")
    public func streamPresence(callback: @escaping (Set<String>) -> Void) -> any AutoCloseable {
        onPresenceChanged(callback: callback)
    }

    /// Calls back with the channel after each change of its record, and with nil when the record is deleted.
    @available(*, deprecated, message: "use onUpdated and onDeleted")
    public func streamUpdates(callback: @escaping (ChannelImpl?) -> Void) -> any AutoCloseable {
        let chat = chat
        return chat.listen({ channel.updates }, { .some($0.map { ChannelImpl(chat, $0) }) }, callback)
    }

    /// Calls back with all of the given channels each time one of the channels changes. Channels whose records are
    /// deleted are left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each channel")
    public static func streamUpdatesOn(
        channels: [ChannelImpl], callback: @escaping ([ChannelImpl]) -> Void
    ) -> any AutoCloseable {
        guard let chat = channels.first?.chat else { return ClosedListener() }
        return chat.listen(
            { ChatKit.Channel.updates(of: channels.map(\.channel)) },
            { $0.map { ChannelImpl(chat, $0) } }, callback)
    }

    /// Calls back with the read marks of all members each time a member has read newer messages. The closure receives
    /// the ids of the members, grouped by the timetoken of the newest message that they have read.
    @available(*, deprecated, message: "use onReadReceiptReceived and fetchReadReceipts")
    public func streamReadReceipts(callback: @escaping ([Timetoken: [String]]) -> Void) -> any AutoCloseable {
        let channel = self
        return chat.listen(
            { self.channel.stream.readReceiptReceived() }, { _ in try await channel.readMarks() }, callback)
    }

    /// Calls back with each report of a message of the channel. The chat's user must be a moderator of the channel.
    @available(*, deprecated, renamed: "onMessageReported")
    public func streamMessageReports(
        callback: @escaping (ChatEvent<EventContent.Report>) -> Void
    ) -> any AutoCloseable {
        chat.listenForEvents(
            type: EventContent.Report.self, channelId: "PUBNUB_INTERNAL_MODERATION_" + id,
            callback: { callback($0.event) })
    }

    /// Reads the ids of all members, grouped by the timetoken of the newest message that they have read.
    private func readMarks() async throws -> [Timetoken: [String]] {
        var marks: [Timetoken: [String]] = [:]
        var page: (any PubNubHashedPage)?
        repeat {
            let found = try await fetchReadReceipts(limit: 250, page: page)
            for receipt in found.receipts { marks[receipt.lastReadTimetoken, default: []].append(receipt.userId) }
            page = found.page
        } while page != nil
        return marks
    }
}
