import ChatKit
import ChatModel
import ChatRemote

/// The membership of a user in a channel, as it was when it was read.
public final class MembershipImpl: Sendable, CustomStringConvertible {
    public let chat: ChatImpl
    /// The channel, with its record if it has one.
    public let channel: ChannelImpl
    /// The member, with the record if there is one.
    public let user: UserImpl
    let membership: ChatKit.Membership

    init(_ membership: ChatKit.Membership, channel: ChannelImpl, user: UserImpl) {
        chat = channel.chat
        self.channel = channel
        self.user = user
        self.membership = membership
    }

    /// Fields of the app's own.
    public var custom: [String: any JSONCodableScalar]? { membership.custom.scalars }
    /// A state, as free text of the app; `pending` for an invitation without one.
    public var status: String? { membership.status ?? (membership.state == .invited ? "pending" : nil) }
    /// A type, as free text of the app.
    public var type: String? { membership.type }
    /// The version of the record.
    public var eTag: String? { membership.eTag }
    /// The time of the last change, in the format of RFC 3339.
    public var updated: String? { membership.updated.timeText }
    /// The newest message that the user has read; nil for none.
    public var lastReadMessageTimetoken: Timetoken? {
        membership.lastReadMessageTimetoken == .zero ? nil : membership.lastReadMessageTimetoken.rawValue
    }

    public var description: String { "MembershipImpl(channel: \(channel.id), user: \(user.id))" }

    /// The sequences of the membership's events.
    public var stream: MembershipStream { MembershipStream(membership: self) }
}

extension MembershipImpl {
    /// Moves the user's read mark to a message. The mark moves forward only.
    public func setLastReadMessage(message: MessageImpl) async throws -> MembershipImpl {
        try await setLastReadMessageTimetoken(message.timetoken)
    }

    /// Moves the user's read mark to a message. The mark moves forward only.
    ///
    /// - Parameter completion: receives the changed membership.
    public func setLastReadMessage(message: MessageImpl, completion: ChatCompletion<MembershipImpl>? = nil) {
        chat.run(completion) { try await self.setLastReadMessage(message: message) }
    }

    /// Moves the user's read mark to the message with a timetoken. The mark moves forward only.
    public func setLastReadMessageTimetoken(_ timetoken: Timetoken) async throws -> MembershipImpl {
        try await chat.call { _ in
            self.changed(try await self.membership.setLastReadMessageTimetoken(ChatModel.Timetoken(timetoken)))
        }
    }

    /// Moves the user's read mark to the message with a timetoken. The mark moves forward only.
    ///
    /// - Parameter completion: receives the changed membership.
    public func setLastReadMessageTimetoken(
        _ timetoken: Timetoken, completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.setLastReadMessageTimetoken(timetoken) }
    }

    /// Changes the given fields, keeps the others, and returns the changed membership.
    public func update(
        custom: [String: any JSONCodableScalar], status: String? = nil, type: String? = nil
    ) async throws -> MembershipImpl {
        try await chat.call { _ in
            self.changed(try await self.membership.update(custom: custom.values, status: status, type: type))
        }
    }

    /// Changes the given fields and keeps the others.
    ///
    /// - Parameter completion: receives the changed membership.
    public func update(
        custom: [String: any JSONCodableScalar], status: String? = nil, type: String? = nil,
        completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.update(custom: custom, status: status, type: type) }
    }

    /// Ends the membership.
    public func delete() async throws { try await chat.call { _ in try await self.membership.delete() } }

    /// Ends the membership.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Returns the number of messages of other users that the user has not read in the channel.
    public func getUnreadMessagesCount() async throws -> UInt64? {
        try await chat.call { _ in UInt64(try await self.membership.getUnreadMessagesCount()) }
    }

    /// Reads the number of messages of other users that the user has not read in the channel.
    public func getUnreadMessagesCount(completion: ChatCompletion<UInt64?>? = nil) {
        chat.run(completion) { try await self.getUnreadMessagesCount() }
    }

    private func changed(_ membership: ChatKit.Membership) -> MembershipImpl {
        MembershipImpl(membership, channel: channel, user: user)
    }
}

// MARK: - Events

extension MembershipImpl {
    /// Calls back with the membership after each change, moved read marks included.
    public func onUpdated(callback: @escaping (MembershipImpl) -> Void) -> any AutoCloseable {
        let (channel, user) = (channel, user)
        return chat.listen(
            { membership.stream.updated() }, { MembershipImpl($0, channel: channel, user: user) }, callback)
    }

    /// Calls back when the membership ends.
    public func onDeleted(callback: @escaping () -> Void) -> any AutoCloseable {
        chat.listen({ membership.stream.deleted() }, { _ in true }, { _ in callback() })
    }

    /// Calls back with the membership after each change, and with nil when it ends.
    @available(*, deprecated, message: "use onUpdated and onDeleted")
    public func streamUpdates(callback: @escaping (MembershipImpl?) -> Void) -> any AutoCloseable {
        let (channel, user) = (channel, user)
        return chat.listen(
            { membership.updates },
            { .some($0.map { MembershipImpl($0, channel: channel, user: user) }) }, callback)
    }

    /// Calls back with all memberships after each change of one of them. A membership that has ended is left out.
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

/// The sequences of a membership's events. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct MembershipStream: Sendable {
    let membership: MembershipImpl

    /// The membership after each change.
    public func updates() -> AsyncStream<MembershipImpl> { .following { membership.onUpdated(callback: $0) } }
    /// One element when the membership ends.
    public func deletions() -> AsyncStream<Void> { .following { yield in membership.onDeleted { yield(()) } } }
}

// MARK: - Records of both ends

extension ChatImpl {
    /// Reads the channels of a user's memberships.
    func memberships(_ records: [MembershipRecord], user: UserImpl) async throws -> [MembershipImpl] {
        try await concurrently(records) { record in
            let channel = try await self.channel(record.channel)
            return MembershipImpl(ChatKit.Membership(chat: try self.connected, record), channel: channel, user: user)
        }
    }

    /// Reads the users of a channel's memberships.
    func memberships(_ records: [MembershipRecord], channel: ChannelImpl) async throws -> [MembershipImpl] {
        try await concurrently(records) { record in
            let user = try await self.getUser(userId: record.user) ?? UserImpl(self, UserRecord(id: record.user))
            return MembershipImpl(
                ChatKit.Membership(chat: try self.connected, record), channel: channel, user: user)
        }
    }

    /// Reads a membership with both ends; nil when the user is no member.
    func membership(of user: String, in channel: String) async throws -> MembershipImpl? {
        guard let record = try await withBackend({ try await $0.member(user, of: channel) }) else { return nil }
        return try await memberships([record], channel: self.channel(channel)).first
    }

    /// Returns a channel with its record if it has one.
    func channel(_ id: String) async throws -> ChannelImpl {
        try await call { chat in
            ChannelImpl(self, try await chat.getChannel(channelId: id) ?? chat.channel(id))
        }
    }
}
