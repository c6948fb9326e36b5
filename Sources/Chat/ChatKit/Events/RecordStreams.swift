public import ChatModel

/// The events of a ``Channel`` as sequences.
public struct ChannelStreams: Sendable {
    let channel: Channel

    /// Yields the values that `transform` returns for the channel's events of the given types; nil values are left out.
    func events<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        channel.chat.events(of: types, on: [channel.id], transform)
    }
}

/// The events of a ``User`` as sequences.
public struct UserStreams: Sendable {
    let user: User
}

/// The events of a ``Membership`` as sequences.
public struct MembershipStreams: Sendable {
    let membership: Membership
}

extension Chat {
    /// Yields the values that `transform` returns for events of the given types on the given channels; nil values are
    /// left out.
    func events<Value: Sendable>(
        of types: [String], on channels: [String], _ transform: @escaping @Sendable (Event) async -> Value?
    ) -> ChatStream<Value> {
        ChatStream(
            chat: self, selection: EventSelection(channels: channels, types: types),
            transform: { event in await transform(event.event).map { [$0] } ?? [] })
    }

    /// Returns the live events that match a selection.
    package func events(_ selection: EventSelection) -> ChatStream<LiveEvent> {
        ChatStream(chat: self, selection: selection, transform: { [$0] })
    }

    /// Yields the values that `transform` returns for the events that a device of the chat's user receives; nil values
    /// are left out.
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
    /// Sends an event with a type of the app to every listener of the channel.
    ///
    /// ```swift
    /// try await channel.emitCustomEvent(
    ///     payload: ["chatID": "42", "customer": "ana"], messageType: "customer-satisfaction")
    /// ```
    ///
    /// - Parameters:
    ///   - messageType: the event's type; nil for the type `custom`.
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

    /// Calls `callback` with each event on this channel whose type is one of the app's own types.
    ///
    /// - Parameter messageType: the type of the events; nil selects all types.
    public func onCustomEvent(
        messageType: String? = nil, callback: @escaping @Sendable (CustomEvent) -> Void
    ) -> AutoCloseable {
        stream.customEvents(messageType: messageType).listen { callback($0) }
    }
}

extension ChannelStreams {
    /// Yields each event on the channel whose type is one of the app's own types; with `messageType`, only events of
    /// this type.
    public func customEvents(messageType: String? = nil) -> ChatStream<CustomEvent> {
        events(of: messageType.map { [$0] } ?? []) { event in event.isCustom ? CustomEvent(event) : nil }
    }
}

extension ChannelStreams {
    static let changes = ["channel.created", "channel.updated", "channel.frozen", "channel.unfrozen"]

    /// Yields the channel after its record is created and after each change of the record.
    public func updated() -> ChatStream<Channel> {
        let channel = channel
        // The channel is read again, because events about a user's own settings do not contain it. Deletion is another
        // event.
        return events(of: Self.changes) { _ in try? await channel.chat.getChannel(channelId: channel.id) }
    }

    /// Yields once when the channel's record is deleted.
    public func deleted() -> ChatStream<Void> { events(of: ["channel.deleted"]) { _ in () } }
}

extension Channel {
    /// Calls `callback` with the channel after its record is created and after each change of the record.
    public func onUpdated(_ callback: @escaping @Sendable (Channel) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls `callback` when the channel's record is deleted.
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

    /// Yields events that only the user receives. For the chat's own user, the sequence connects as a device of the
    /// user, because with a user's token only a device receives these events. For another user, it reads the channel
    /// that has the user's id as its name.
    private func personal<Value: Sendable>(
        of types: [String], _ transform: @escaping @Sendable (Event) -> Value?
    ) -> ChatStream<Value> {
        let id = user.id
        guard id == user.chat.userId else { return events(of: types, transform) }
        return user.chat.deviceEvents(of: types) { $0.channel.name == id ? transform($0) : nil }
    }

    static let changes = ["user.created", "user.updated"]

    /// Yields the user after the user's record is created and after each change of the record.
    public func updated() -> ChatStream<User> {
        let user = user
        return events(of: Self.changes) { _ in try? await user.chat.getUser(userId: user.id) }
    }

    /// Yields when the user's record is deleted.
    public func deleted() -> ChatStream<Void> { events(of: ["user.deleted"]) { _ in () } }

    /// Yields each invitation of the user, and each invitation that a client sent to the user's channel as an event of
    /// the type `invite`.
    public func invited() -> ChatStream<Invite> {
        personal(of: ["member.invited", Invite.eventType]) { event in
            event.type == Invite.eventType ? Invite(emitted: event) : Invite(event, AnyJSON(event.data))
        }
    }

    /// Yields each message that mentions the user, and each mention that a client sent to the user's channel as an
    /// event of the type `mention`.
    public func mentioned() -> ChatStream<Mention> {
        personal(of: ["user.mentioned", Mention.eventType]) { event in
            event.type == Mention.eventType ? Mention(emitted: event) : Mention(event, AnyJSON(event.data))
        }
    }

    /// Yields each mute and ban of the user in any channel, and the end of each mute and ban.
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
    /// Calls `callback` with the user after the user's record is created and after each change of the record.
    public func onUpdated(_ callback: @escaping @Sendable (User) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls `callback` when the user's record is deleted.
    public func onDeleted(_ callback: @escaping @Sendable () -> Void) -> AutoCloseable {
        stream.deleted().listen { callback() }
    }

    /// Calls `callback` with each invitation of the user.
    public func onInvited(_ callback: @escaping @Sendable (Invite) -> Void) -> AutoCloseable {
        stream.invited().listen { callback($0) }
    }

    /// Calls `callback` with each message that mentions the user, and with each mention that was sent as an event.
    public func onMentioned(_ callback: @escaping @Sendable (Mention) -> Void) -> AutoCloseable {
        stream.mentioned().listen { callback($0) }
    }

    /// Calls `callback` with each mute and ban of the user in any channel, and with the end of each mute and ban.
    public func onRestrictionChanged(_ callback: @escaping @Sendable (Restriction) -> Void) -> AutoCloseable {
        stream.restrictionChanged().listen { callback($0) }
    }
}

extension MembershipStreams {
    static let changes = ["membership.updated", "member.joined", "receipt.read", "receipt.delivered"]
    static let ends = ["member.left", "member.declined"]

    /// Yields the membership after each change. A move of the read mark or delivery mark is also a change.
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
    /// Calls `callback` with the membership after each change. A move of the read mark or delivery mark is also a
    /// change.
    public func onUpdated(_ callback: @escaping @Sendable (Membership) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }

    /// Calls `callback` when the membership ends.
    public func onDeleted(_ callback: @escaping @Sendable () -> Void) -> AutoCloseable {
        stream.deleted().listen { callback() }
    }
}

extension Event {
    /// The id of the user whose membership the event is about; nil for other events.
    var member: String? {
        let data = AnyJSON(data)
        return data["membership"]?.text("user") ?? data["user"]?.text("id")
            ?? data["invitee"]?.text("id")
    }
}
