public import ChatModel

/// The membership of a user in a channel, as it was when it was read.
public struct Membership: Sendable {
    /// The chat in which it was read.
    public let chat: Chat
    /// The member's id.
    public let userId: String
    /// The channel's name.
    public let channelId: String
    /// The state; `invited` until the invitation is accepted.
    public let state: MemberState
    /// The role: a member or a moderator of the channel.
    public let role: MemberRole
    /// Fields of the app's own.
    public let custom: [String: any JSONCodable]
    /// A state, as free text of the app.
    public let status: String?
    /// A type, as free text of the app.
    public let type: String?
    /// The newest message that the user has read; zero for none.
    public let lastReadMessageTimetoken: Timetoken
    /// The newest message that a device of the user has received; zero for none.
    public let lastDeliveredMessageTimetoken: Timetoken
    /// True when the channel is hidden from the user's list.
    public let isHidden: Bool
    /// The messages for which the user wants push notifications. A gateway shows it to the user only: for other users
    /// it is `all`.
    public let pushPreference: PushPreference
    /// The time of the last change.
    public let updated: Timetoken
    /// The version of the record.
    public let eTag: String

    /// Creates a membership from its record, for example in a test.
    public init(chat: Chat, _ record: MembershipRecord) {
        self.chat = chat
        userId = record.user
        channelId = record.channel
        state = record.state
        role = record.role
        custom = record.custom.map { AnyJSON($0).members } ?? [:]
        status = record.status
        type = record.type
        lastReadMessageTimetoken = record.read
        lastDeliveredMessageTimetoken = record.delivered
        isHidden = record.hiding != nil
        pushPreference = record.push
        updated = record.updated
        eTag = record.etag
    }

    /// The channel, without its record.
    public var channel: Channel { chat.channel(channelId) }

    /// The sequences of the membership's events. For each of them there is also an `on…` method that takes a closure.
    public var stream: MembershipStreams { MembershipStreams(membership: self) }
}

extension Membership {
    /// Changes the given fields, keeps the others, and returns the changed membership.
    ///
    /// - Throws: `.notFound` when the membership has ended; `.forbidden` for a field that the user may not set;
    ///   `.malformed` or `.tooLarge` for a field; the errors of every call (``Chat``).
    public func update(
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil,
        pushPreference: PushPreference? = nil
    ) async throws(ChatError) -> Membership {
        var fields = MembershipFields()
        fields.custom = try custom?.encodedObject()
        fields.status = status
        fields.type = type
        fields.push = pushPreference
        return Membership(
            chat: chat, try await chat.backend.update(member: userId, of: channelId, fields, eTag: nil))
    }

    /// Ends the membership: the user leaves, or a moderator of the channel removes the user. Does nothing when the
    /// membership has ended already.
    ///
    /// - Parameter reason: the moderator's reason.
    /// - Throws: `.forbidden` for another user's membership, unless the chat's user is a moderator; the errors of every
    ///   call (``Chat``).
    public func delete(reason: String? = nil) async throws(ChatError) {
        try await chat.backend.remove(member: userId, from: channelId, reason: reason)
    }
}
