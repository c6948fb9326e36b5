import ChatKit
import ChatModel
import ChatRemote

/// The membership of a user in a channel, with the values of its record when the record was read.
public final class MembershipImpl: Sendable, CustomStringConvertible {
    /// The chat that the membership belongs to.
    public let chat: ChatImpl
    /// The channel of the membership, with the values of its record if the channel has a record.
    public let channel: ChannelImpl
    /// The user of the membership, with the values of the user's record if the user has a record.
    public let user: UserImpl
    let membership: ChatKit.Membership

    init(_ membership: ChatKit.Membership, channel: ChannelImpl, user: UserImpl) {
        chat = channel.chat
        self.channel = channel
        self.user = user
        self.membership = membership
    }

    /// The app's own fields; empty for none.
    public var custom: [String: any JSONCodableScalar]? { membership.custom.scalars }
    /// The status that the app has set, as free text. When the app has set no status, `pending` for an invitation and
    /// nil for a member who has joined.
    public var status: String? { membership.status ?? (membership.state == .invited ? "pending" : nil) }
    /// A type that the app defines, as free text; nil for none.
    public var type: String? { membership.type }
    /// The version of the record; nil when it is not known.
    public var eTag: String? { membership.eTag }
    /// The time of the last change, in the format of RFC 3339.
    public var updated: String? { membership.updated.timeText }
    /// The timetoken of the newest message that the user has read; nil for none. A timetoken is the id of a message in
    /// its channel and the time at which the message was sent.
    public var lastReadMessageTimetoken: Timetoken? {
        membership.lastReadMessageTimetoken == .zero ? nil : membership.lastReadMessageTimetoken.rawValue
    }

    public var description: String { "MembershipImpl(channel: \(channel.id), user: \(user.id))" }

    /// The membership's events as sequences.
    public var stream: MembershipStream { MembershipStream(membership: self) }
}

extension MembershipImpl {
    /// Moves the user's read mark, which is the newest message that the user has read, to a message. The mark never
    /// moves backwards.
    ///
    /// - Returns: the changed membership.
    /// - Throws: the errors of ``setLastReadMessageTimetoken(_:)``.
    public func setLastReadMessage(message: MessageImpl) async throws -> MembershipImpl {
        try await setLastReadMessageTimetoken(message.timetoken)
    }

    /// Moves the user's read mark to a message; see ``setLastReadMessage(message:)``.
    ///
    /// - Parameter completion: receives the changed membership.
    public func setLastReadMessage(message: MessageImpl, completion: ChatCompletion<MembershipImpl>? = nil) {
        chat.run(completion) { try await self.setLastReadMessage(message: message) }
    }

    /// Moves the user's read mark, which is the newest message that the user has read, to the message with a timetoken.
    /// The mark never moves backwards.
    ///
    /// - Returns: the changed membership.
    /// - Throws: `resourceNotFound` when the membership has ended; `badRequest` for a timetoken later than every event;
    ///   the errors common to all calls (see ``ChatImpl``).
    public func setLastReadMessageTimetoken(_ timetoken: Timetoken) async throws -> MembershipImpl {
        try await chat.call { _ in
            self.changed(try await self.membership.setLastReadMessageTimetoken(ChatModel.Timetoken(timetoken)))
        }
    }

    /// Moves the user's read mark to the message with a timetoken; see ``setLastReadMessageTimetoken(_:)``.
    ///
    /// - Parameter completion: receives the changed membership.
    public func setLastReadMessageTimetoken(
        _ timetoken: Timetoken, completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.setLastReadMessageTimetoken(timetoken) }
    }

    /// Changes the given fields of the membership. A nil field does not change.
    ///
    /// - Parameters:
    ///   - custom: the new value of the app's own fields, which replaces all of them.
    ///   - status: a status, as free text.
    ///   - type: a type, as free text.
    /// - Returns: the changed membership.
    /// - Throws: `resourceNotFound` when the membership has ended; `forbidden` for a field that the chat's user may not
    ///   set; `badRequest` or `messageTooLong` for an invalid field; the errors common to all calls (see ``ChatImpl``).
    public func update(
        custom: [String: any JSONCodableScalar], status: String? = nil, type: String? = nil
    ) async throws -> MembershipImpl {
        try await chat.call { _ in
            self.changed(try await self.membership.update(custom: custom.values, status: status, type: type))
        }
    }

    /// Changes the given fields of the membership; see ``update(custom:status:type:)``.
    ///
    /// - Parameter completion: receives the changed membership.
    public func update(
        custom: [String: any JSONCodableScalar], status: String? = nil, type: String? = nil,
        completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.update(custom: custom, status: status, type: type) }
    }

    /// Ends the membership. Does nothing when the membership has already ended.
    ///
    /// - Throws: `forbidden` for another user's membership, unless the chat's user is a moderator; the errors common to
    ///   all calls (see ``ChatImpl``).
    public func delete() async throws { try await chat.call { _ in try await self.membership.delete() } }

    /// Ends the membership. Does nothing when the membership has already ended.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Returns the number of messages of other users that the user has not read in the channel; never nil.
    ///
    /// - Throws: `resourceNotFound` when the membership has ended; the errors common to all calls (see ``ChatImpl``).
    public func getUnreadMessagesCount() async throws -> UInt64? {
        try await chat.call { _ in UInt64(try await self.membership.getUnreadMessagesCount()) }
    }

    /// Reads the number of messages of other users that the user has not read in the channel.
    ///
    /// - Parameter completion: receives the number, which is never nil.
    public func getUnreadMessagesCount(completion: ChatCompletion<UInt64?>? = nil) {
        chat.run(completion) { try await self.getUnreadMessagesCount() }
    }

    private func changed(_ membership: ChatKit.Membership) -> MembershipImpl {
        MembershipImpl(membership, channel: channel, user: user)
    }
}

// MARK: - Events

extension MembershipImpl {
    /// Calls back with the membership after each change. A change of the read mark is also a change of the membership.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onUpdated(callback: @escaping (MembershipImpl) -> Void) -> any AutoCloseable {
        let (channel, user) = (channel, user)
        return chat.listen(
            { membership.stream.updated() }, { MembershipImpl($0, channel: channel, user: user) }, callback)
    }

    /// Calls back when the membership ends.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onDeleted(callback: @escaping () -> Void) -> any AutoCloseable {
        chat.listen({ membership.stream.deleted() }, { _ in true }, { _ in callback() })
    }

    /// Calls back with the membership after each change, and with nil when the membership ends.
    @available(*, deprecated, message: "use onUpdated and onDeleted")
    public func streamUpdates(callback: @escaping (MembershipImpl?) -> Void) -> any AutoCloseable {
        let (channel, user) = (channel, user)
        return chat.listen(
            { membership.updates },
            { .some($0.map { MembershipImpl($0, channel: channel, user: user) }) }, callback)
    }

    /// Calls back with all of the given memberships each time one of the memberships changes. Memberships that have
    /// ended are left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each membership")
    public static func streamUpdatesOn(
        memberships: [MembershipImpl], callback: @escaping ([MembershipImpl]) -> Void
    ) -> any AutoCloseable {
        guard let chat = memberships.first?.chat else { return ClosedListener() }
        return chat.listen(
            { ChatKit.Membership.updates(of: memberships.map(\.membership)) },
            { changed in
                changed.compactMap { new in
                    let own = memberships.first { $0.user.id == new.userId && $0.channel.id == new.channelId }
                    return own.map { MembershipImpl(new, channel: $0.channel, user: $0.user) }
                }
            }, callback)
    }
}

/// The events of a membership as sequences. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct MembershipStream: Sendable {
    let membership: MembershipImpl

    /// Yields the membership after each change.
    public func updates() -> AsyncStream<MembershipImpl> { .following { membership.onUpdated(callback: $0) } }
    /// Yields one element when the membership ends.
    public func deletions() -> AsyncStream<Void> { .following { yield in membership.onDeleted { yield(()) } } }
}

// MARK: - Channels and users of memberships

extension ChatImpl {
    /// Reads the channels of a user's memberships.
    ///
    /// - Returns: the memberships with their channels, in the order of `records`.
    func memberships(_ records: [MembershipRecord], user: UserImpl) async throws -> [MembershipImpl] {
        try await concurrently(records) { record in
            let channel = try await self.channel(record.channel)
            return MembershipImpl(ChatKit.Membership(chat: try self.connected, record), channel: channel, user: user)
        }
    }

    /// Reads the users of a channel's memberships.
    ///
    /// - Returns: the memberships with their users, in the order of `records`.
    func memberships(_ records: [MembershipRecord], channel: ChannelImpl) async throws -> [MembershipImpl] {
        try await concurrently(records) { record in
            let user = try await self.getUser(userId: record.user) ?? UserImpl(self, UserRecord(id: record.user))
            return MembershipImpl(
                ChatKit.Membership(chat: try self.connected, record), channel: channel, user: user)
        }
    }

    /// Reads a membership together with its channel and user. Returns nil when the user is not a member.
    func membership(of user: String, in channel: String) async throws -> MembershipImpl? {
        guard let record = try await withBackend({ try await $0.member(user, of: channel) }) else { return nil }
        return try await memberships([record], channel: self.channel(channel)).first
    }

    /// Reads a channel. The result has no values of a record when the channel has no record.
    func channel(_ id: String) async throws -> ChannelImpl {
        try await call { chat in
            ChannelImpl(self, try await chat.getChannel(channelId: id) ?? chat.channel(id))
        }
    }
}
