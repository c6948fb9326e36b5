import ChatModel
import Locking

// The listeners of the library's older generation. Each listener exists as a method with a closure and as an
// `AsyncStream`. The stream connects as soon as it is created.

extension Channel {
    /// Calls `callback` with the channel after each change, and with nil when the channel's record is deleted.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Channel?) -> Void) -> AutoCloseable {
        updates.listen { callback($0) }
    }

    /// The older name of `stream.updated()`. Yields nil when the channel's record is deleted.
    @available(*, deprecated, renamed: "stream.updated")
    public func streamUpdates() -> AsyncStream<Channel?> { updates.started() }

    /// Calls `callback` with all of the given channels each time one of the channels changes. A channel whose record is
    /// deleted is left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each channel")
    public static func streamUpdatesOn(
        channels: [Channel], callback: @escaping @Sendable ([Channel]) -> Void
    ) -> AutoCloseable {
        updates(of: channels)?.listen { callback($0) } ?? .ended
    }

    /// Yields all of the given channels each time one of the channels changes. For an empty list, the sequence ends
    /// immediately.
    @available(*, deprecated, message: "use stream.updated() and stream.deleted() of each channel")
    public static func streamUpdatesOn(channels: [Channel]) -> AsyncStream<[Channel]> {
        updates(of: channels)?.started() ?? .ended
    }

    /// Yields the channel after each change, and nil when the channel's record is deleted.
    package var updates: ChatStream<Channel?> {
        chat.updates(of: [self], on: [id], Self.changes, Self.change).map(\.first)
    }

    /// Returns a sequence of all of the given channels each time one of the channels changes; nil for an empty list.
    package static func updates(of channels: [Channel]) -> ChatStream<[Channel]>? {
        channels.first?.chat.updates(of: channels, on: channels.map(\.id), changes, change)
    }

    private static let changes = ChannelStreams.changes + ["channel.deleted"]

    @Sendable private static func change(_ event: Event, _ channel: Channel) async -> Change<Channel> {
        guard event.channel.name == channel.id else { return .same }
        if event.type == "channel.deleted" { return .deleted }
        return Change(try? await channel.chat.getChannel(channelId: channel.id))
    }
}

extension User {
    /// Calls `callback` with the user after each change, and with nil when the user's record is deleted.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (User?) -> Void) -> AutoCloseable {
        updates.listen { callback($0) }
    }

    /// The older name of `stream.updated()`. Yields nil when the user's record is deleted.
    @available(*, deprecated, renamed: "stream.updated")
    public func streamUpdates() -> AsyncStream<User?> { updates.started() }

    /// Calls `callback` with all of the given users each time one of the users changes. A user whose record is deleted
    /// is left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each user")
    public static func streamUpdatesOn(
        users: [User], callback: @escaping @Sendable ([User]) -> Void
    ) -> AutoCloseable {
        updates(of: users)?.listen { callback($0) } ?? .ended
    }

    /// Yields all of the given users each time one of the users changes. For an empty list, the sequence ends
    /// immediately.
    @available(*, deprecated, message: "use stream.updated() and stream.deleted() of each user")
    public static func streamUpdatesOn(users: [User]) -> AsyncStream<[User]> {
        updates(of: users)?.started() ?? .ended
    }

    /// Yields the user after each change, and nil when the user's record is deleted.
    package var updates: ChatStream<User?> {
        chat.updates(of: [self], on: [id], Self.changes, Self.change).map(\.first)
    }

    /// Returns a sequence of all of the given users each time one of the users changes; nil for an empty list.
    package static func updates(of users: [User]) -> ChatStream<[User]>? {
        users.first?.chat.updates(of: users, on: users.map(\.id), changes, change)
    }

    private static let changes = UserStreams.changes + ["user.deleted"]

    @Sendable private static func change(_ event: Event, _ user: User) async -> Change<User> {
        guard event.channel.name == user.id else { return .same }
        if event.type == "user.deleted" { return .deleted }
        return Change(try? await user.chat.getUser(userId: user.id))
    }
}

extension Membership {
    /// Calls `callback` with the membership after each change, and with nil when the membership ends.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Membership?) -> Void) -> AutoCloseable {
        updates.listen { callback($0) }
    }

    /// The older name of `stream.updated()`. Yields nil when the membership ends.
    @available(*, deprecated, renamed: "stream.updated")
    public func streamUpdates() -> AsyncStream<Membership?> { updates.started() }

    /// Calls `callback` with all of the given memberships each time one of the memberships changes. An ended membership
    /// is left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each membership")
    public static func streamUpdatesOn(
        memberships: [Membership], callback: @escaping @Sendable ([Membership]) -> Void
    ) -> AutoCloseable {
        updates(of: memberships)?.listen { callback($0) } ?? .ended
    }

    /// Yields all of the given memberships each time one of the memberships changes. For an empty list, the sequence
    /// ends immediately.
    @available(*, deprecated, message: "use stream.updated() and stream.deleted() of each membership")
    public static func streamUpdatesOn(memberships: [Membership]) -> AsyncStream<[Membership]> {
        updates(of: memberships)?.started() ?? .ended
    }

    /// Yields the membership after each change, and nil when the membership ends.
    package var updates: ChatStream<Membership?> {
        chat.updates(of: [self], on: [channelId], Self.changes, Self.change).map(\.first)
    }

    /// Returns a sequence of all of the given memberships each time one of the memberships changes; nil for an empty
    /// list.
    package static func updates(of memberships: [Membership]) -> ChatStream<[Membership]>? {
        memberships.first?.chat.updates(of: memberships, on: memberships.map(\.channelId), changes, change)
    }

    private static let changes = MembershipStreams.changes + MembershipStreams.ends

    @Sendable private static func change(_ event: Event, _ membership: Membership) async -> Change<Membership> {
        guard event.channel.name == membership.channelId, event.member == membership.userId else { return .same }
        if MembershipStreams.ends.contains(event.type) { return .deleted }
        return Change(try? await membership.channel.getMembership(userId: membership.userId))
    }
}

extension Message {
    /// Calls `callback` with the message after each change of the message. A deleted message is marked as deleted.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        onUpdated(callback)
    }

    /// The older name of `stream.updated()`.
    @available(*, deprecated, renamed: "stream.updated")
    public func streamUpdates() -> AsyncStream<Message> { stream.updated().started() }

    /// Calls `callback` with all of the given messages each time one of the messages changes. A deleted message is
    /// marked as deleted.
    @available(*, deprecated, message: "use onUpdated of each message")
    public static func streamUpdatesOn(
        messages: [Message], callback: @escaping @Sendable ([Message]) -> Void
    ) -> AutoCloseable {
        updates(of: messages)?.listen { callback($0) } ?? .ended
    }

    /// Yields all of the given messages each time one of the messages changes. For an empty list, the sequence ends
    /// immediately.
    @available(*, deprecated, message: "use stream.updated() of each message")
    public static func streamUpdatesOn(messages: [Message]) -> AsyncStream<[Message]> {
        updates(of: messages)?.started() ?? .ended
    }

    /// Returns a sequence of all of the given messages each time one of the messages changes; nil for an empty list.
    package static func updates(of messages: [Message]) -> ChatStream<[Message]>? {
        messages.first?.chat.updates(of: messages, on: messages.map(\.channelId), MessageStreams.changes) {
            event, message in
            guard event.channel.name == message.channelId, event.changedMessage == message.timetoken else {
                return .same
            }
            return Change(await event.changed(message))
        }
    }
}

// MARK: - Listeners of a channel

extension Channel {
    /// The older name of ``onMessageReceived(_:)``.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        onMessageReceived(callback)
    }

    /// The older name of `stream.messageReceived()`.
    @available(*, deprecated, renamed: "stream.messageReceived")
    public func connect() -> AsyncStream<Message> { stream.messageReceived().started() }

    /// The older name of ``onTypingChanged(_:)``.
    @available(*, deprecated, renamed: "onTypingChanged")
    public func getTyping(callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        onTypingChanged(callback)
    }

    /// The older name of `stream.typingChanged()`.
    @available(*, deprecated, renamed: "stream.typingChanged")
    public func getTyping() -> AsyncStream<[String]> { stream.typingChanged().started() }

    /// The older name of ``onPresenceChanged(_:)``.
    @available(*, deprecated, renamed: "onPresenceChanged")
    public func streamPresence(callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        onPresenceChanged(callback)
    }

    /// The older name of `stream.presenceChanged()`.
    @available(*, deprecated, renamed: "stream.presenceChanged")
    public func streamPresence() -> AsyncStream<[String]> { stream.presenceChanged().started() }

    /// The older name of ``onReadReceiptReceived(_:)``.
    @available(*, deprecated, renamed: "onReadReceiptReceived")
    public func streamReadReceipts(callback: @escaping @Sendable (ReadReceipt) -> Void) -> AutoCloseable {
        onReadReceiptReceived(callback)
    }

    /// The older name of `stream.readReceiptReceived()`.
    @available(*, deprecated, renamed: "stream.readReceiptReceived")
    public func streamReadReceipts() -> AsyncStream<ReadReceipt> { stream.readReceiptReceived().started() }

    /// The older name of ``onMessageReported(_:)``.
    @available(*, deprecated, renamed: "onMessageReported")
    public func streamMessageReports(callback: @escaping @Sendable (Report) -> Void) -> AutoCloseable {
        onMessageReported(callback)
    }

    /// The older name of `stream.messageReported()`.
    @available(*, deprecated, renamed: "stream.messageReported")
    public func streamMessageReports() -> AsyncStream<Report> { stream.messageReported().started() }
}

extension Chat {
    /// Calls `callback` with a receipt each time another member of one of the user's channels has read newer messages.
    @available(*, deprecated, message: "use Channel.onReadReceiptReceived, or a ChannelDelegate")
    public func streamReadReceipts(callback: @escaping @Sendable (ReadReceipt) -> Void) -> AutoCloseable {
        readReceipts.listen { callback($0) }
    }

    /// Yields a receipt each time another member of one of the user's channels has read newer messages.
    @available(*, deprecated, message: "use Channel.stream.readReceiptReceived(), or a ChannelDelegate")
    public func streamReadReceipts() -> AsyncStream<ReadReceipt> { readReceipts.started() }

    private var readReceipts: ChatStream<ReadReceipt> {
        deviceEvents(of: ["receipt.read"]) { ReadReceipt($0, AnyJSON($0.data)) }
    }
}

// MARK: - Sequences

extension ChatStream {
    /// Returns the values as an `AsyncStream`, which connects immediately and closes its connection when it is
    /// released.
    func started() -> AsyncStream<Element> {
        let reader = StreamReader(self)
        return AsyncStream(unfolding: { await reader.next() })
    }

    fileprivate func map<Value: Sendable>(_ read: @escaping @Sendable (Element) -> Value) -> ChatStream<Value> {
        ChatStream<Value>(chat: chat, selection: selection) { [transform] event in await transform(event).map(read) }
    }
}

/// Reads a stream whose values several tasks may request at the same time.
private actor StreamReader<Element: Sendable> {
    private var iterator: ChatStream<Element>.Iterator

    init(_ stream: ChatStream<Element>) { iterator = stream.makeAsyncIterator() }

    func next() async -> Element? {
        var reader = iterator
        defer { iterator = reader }
        return await reader.next()
    }
}

extension AsyncStream {
    fileprivate static var ended: AsyncStream { AsyncStream(unfolding: { nil }) }
}

extension AutoCloseable {
    /// A listener that has ended.
    fileprivate static var ended: AutoCloseable { AutoCloseable(nil) {} }
}

/// The effect of an event on one record or message.
private enum Change<Entity: Sendable>: Sendable {
    case same, deleted
    case changed(Entity)

    /// Creates the effect of an event that did not delete the record or message.
    ///
    /// - Parameter entity: the record or message after the event; nil when it cannot be read now. Nil counts as no
    ///   change.
    init(_ entity: Entity?) { self = entity.map { .changed($0) } ?? .same }
}

extension Chat {
    /// Yields all of the records or messages after each change of one of them, without deleted ones.
    ///
    /// - Parameter change: returns the effect of an event on one of the records or messages.
    fileprivate func updates<Entity: Sendable>(
        of entities: [Entity], on channels: [String], _ types: [String],
        _ change: @escaping @Sendable (Event, Entity) async -> Change<Entity>
    ) -> ChatStream<[Entity]> {
        let present = Lock(entities)
        return events(of: types, on: channels) { event in
            var (all, isChanged): ([Entity], Bool) = ([], false)
            for entity in present.withLock({ $0 }) {
                switch await change(event, entity) {
                case .same: all.append(entity)
                case .changed(let new):
                    all.append(new)
                    isChanged = true
                case .deleted: isChanged = true
                }
            }
            guard isChanged else { return nil }
            present.withLock { [all] in $0 = all }
            return all
        }
    }
}
