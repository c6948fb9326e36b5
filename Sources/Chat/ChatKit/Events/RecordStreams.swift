public import ChatModel

/// The sequences of a ``Channel``.
public struct ChannelStreams: Sendable {
    let channel: Channel

    /// Returns values made from the channel's events of some types.
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
    /// Returns values made from events of some types on some channels.
    func events<Value: Sendable>(
        of types: [String], on channels: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        ChatStream(
            chat: self, selection: EventSelection(channels: channels, types: types),
            transform: { event in await transform(event.event).map { [$0] } ?? [] })
    }

    /// Returns values made from the events that a device of the chat's user receives.
    func deviceEvents<Value: Sendable>(
        of types: [String] = [], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        var selection = EventSelection(types: types)
        selection.isDevice = true
        return ChatStream(
            chat: self, selection: selection, transform: { event in await transform(event.event).map { [$0] } ?? [] })
    }
}

extension Channel {
    /// Sends an event of the app's own type to every listener of the channel.
    ///
    /// ```swift
    /// try await channel.emitCustomEvent(
    ///     payload: ["chatID": "42", "customer": "ana"], messageType: "customer-satisfaction")
    /// ```
    ///
    /// - Parameters:
    ///   - messageType: the event's type; nil sends an event without a type, whose type in the gateway is `custom`.
    ///   - storeInHistory: true stores the event for
    ///     ``Chat/getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    /// - Throws: `.malformed` for a built-in type, `.invalid` when the payload does not match the type's schema.
    @discardableResult
    public func emitCustomEvent(
        payload: [String: any JSONCodable], messageType: String? = nil, storeInHistory: Bool = true
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.event(type: messageType), on: id, data: try payload.encodedObject().text)
        posting.isStored = storeInHistory
        return try await chat.backend.post(posting)
    }

    /// Calls back with each event of the app's own types on this channel.
    ///
    /// - Parameter messageType: the type of the events; nil selects all types.
    public func onCustomEvent(
        messageType: String? = nil, callback: @escaping @Sendable (CustomEvent) -> Void
    ) -> AutoCloseable {
        stream.customEvents(messageType: messageType).listen { callback($0) }
    }
}

extension ChannelStreams {
    /// Events of the app's own types on the channel.
    public func customEvents(messageType: String? = nil) -> ChatStream<CustomEvent> {
        events(of: messageType.map { [$0] } ?? []) { event in event.isCustom ? CustomEvent(event) : nil }
    }
}

extension ChannelStreams {
    static let changes = ["channel.created", "channel.updated", "channel.frozen", "channel.unfrozen"]

    /// The channel after its record was created and after each change of it.
    public func updated() -> ChatStream<Channel> {
        let channel = channel
        // Read again: an event about one user's own settings does not hold the channel. A deletion has its own event.
        return events(of: Self.changes) { _ in try? await channel.chat.getChannel(channelId: channel.id) }
    }

    /// Yields once when the channel's record is deleted.
    public func deleted() -> ChatStream<Void> { events(of: ["channel.deleted"]) { _ in () } }
}

extension Channel {
    /// Calls back with the channel after its record was created and after each change of it.
    public func onUpdated(_ callback: @escaping @Sendable (Channel) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls back when the channel's record is deleted.
    public func onDeleted(_ callback: @escaping @Sendable () -> Void) -> AutoCloseable {
        stream.deleted().listen { callback() }
    }
}

extension UserStreams {
    private func events<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        user.chat.events(of: types, on: [user.id], transform)
    }

    /// Returns events that concern the user only. The chat's own user receives them as a device, which is the only way
    /// for a user's token. The events of another user arrive on the channel with that user's id as its name.
    private func personal<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) -> Value?
    ) -> ChatStream<Value> {
        let id = user.id
        guard id == user.chat.userId else { return events(of: types, transform) }
        return user.chat.deviceEvents(of: types) { $0.channel.name == id ? transform($0) : nil }
    }

    static let changes = ["user.created", "user.updated"]

    /// The user after the record was created and after each change of it.
    public func updated() -> ChatStream<User> {
        let user = user
        return events(of: Self.changes) { _ in try? await user.chat.getUser(userId: user.id) }
    }

    /// Yields when the user's record is deleted.
    public func deleted() -> ChatStream<Void> { events(of: ["user.deleted"]) { _ in () } }

    /// Invitations of the user.
    public func invited() -> ChatStream<Invite> {
        personal(of: ["member.invited"]) { Invite($0, AnyJSON($0.data)) }
    }

    /// Messages that mention the user, and mentions that another client of the user's channel has sent as events of the
    /// type `mention`.
    public func mentioned() -> ChatStream<Mention> {
        personal(of: ["user.mentioned", Mention.eventType]) { event in
            event.type == Mention.eventType ? Mention(emitted: event) : Mention(event, AnyJSON(event.data))
        }
    }

    /// Mutes and bans of the user in any channel, and their ends.
    public func restrictionChanged() -> ChatStream<Restriction> {
        let id = user.id
        let types = ["user.muted", "user.unmuted", "user.banned", "user.unbanned"]
        let read: @Sendable (Event) -> Restriction? = { event in
            let restriction = Restriction(event, AnyJSON(event.data))
            return restriction.userId == id ? restriction : nil
        }
        guard id == user.chat.userId else { return user.chat.events(of: types, on: [], read) }
        return user.chat.deviceEvents(of: types, read)
    }
}

extension User {
    /// Calls back with the user after the record was created and after each change of it.
    public func onUpdated(_ callback: @escaping @Sendable (User) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls back when the user's record is deleted.
    public func onDeleted(_ callback: @escaping @Sendable () -> Void) -> AutoCloseable {
        stream.deleted().listen { callback() }
    }

    /// Calls back with each invitation of the user.
    public func onInvited(_ callback: @escaping @Sendable (Invite) -> Void) -> AutoCloseable {
        stream.invited().listen { callback($0) }
    }

    /// Calls back with each message that mentions the user, and with mentions that were sent as events.
    public func onMentioned(_ callback: @escaping @Sendable (Mention) -> Void) -> AutoCloseable {
        stream.mentioned().listen { callback($0) }
    }

    /// Calls back with each mute and ban of the user in any channel, and with their ends.
    public func onRestrictionChanged(_ callback: @escaping @Sendable (Restriction) -> Void) -> AutoCloseable {
        stream.restrictionChanged().listen { callback($0) }
    }
}

extension MembershipStreams {
    static let changes = ["membership.updated", "member.joined", "receipt.read", "receipt.delivered"]
    static let ends = ["member.left", "member.declined"]

    /// The membership after each change, moved read and delivery marks included.
    public func updated() -> ChatStream<Membership> {
        let membership = membership
        return membership.chat.events(of: Self.changes, on: [membership.channelId]) { event in
            guard event.member == membership.userId else { return nil }
            return try? await membership.channel.getMembership(userId: membership.userId)
        }
    }

    /// Yields when the membership ends.
    public func deleted() -> ChatStream<Void> {
        let membership = membership
        return membership.chat.events(of: Self.ends, on: [membership.channelId]) { event in
            event.member == membership.userId ? () : nil
        }
    }
}

extension Membership {
    /// Calls back with the membership after each change, moved read and delivery marks included.
    public func onUpdated(_ callback: @escaping @Sendable (Membership) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls back when the membership ends.
    public func onDeleted(_ callback: @escaping @Sendable () -> Void) -> AutoCloseable {
        stream.deleted().listen { callback() }
    }
}

extension Event {
    /// The user of the membership that the event is about.
    var member: String? {
        let data = AnyJSON(data)
        return data["membership"]?.text("user") ?? data["user"]?.text("id")
            ?? data["invitee"]?.text("id")
    }
}
