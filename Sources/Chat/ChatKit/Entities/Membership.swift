public import ChatModel

/// The membership of a user in a channel, with the values that it had when it was read.
public struct Membership: Sendable {
    /// The chat that read the membership.
    public let chat: Chat
    /// The member's id.
    public let userId: String
    /// The channel's name.
    public let channelId: String
    /// The state: `invited` until the invitation is accepted, then `joined`.
    public let state: MemberState
    /// The role: a member or a moderator of the channel.
    public let role: MemberRole
    /// The app's own data, a JSON object.
    public let custom: [String: any JSONCodable]
    /// A status that the app defines, as free text.
    public let status: String?
    /// A type that the app defines, as free text.
    public let type: String?
    /// The timetoken of the newest message that the user has read; zero for none.
    public let lastReadMessageTimetoken: Timetoken
    /// The timetoken of the newest message that a device of the user has received; zero for none.
    public let lastDeliveredMessageTimetoken: Timetoken
    /// True when the channel is hidden from the user's list.
    public let isHidden: Bool
    /// The messages for which the member wants push notifications. Other users do not see the value; for them, the
    /// property is `all`.
    public let pushPreference: PushPreference
    /// The time of the last change.
    public let updated: Timetoken
    /// The version of the record, for updates that require this version.
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

    /// The membership's events as sequences. For each sequence there is also an `on…` method with a closure.
    public var stream: MembershipStreams { MembershipStreams(membership: self) }
}

extension Membership {
    /// Changes the given fields. Returns the changed membership. A nil field does not change.
    ///
    /// - Throws: `.notFound` when the membership has ended; `.forbidden` for a field that the user may not set;
    ///   `.malformed` or `.tooLarge` for an invalid field; the errors common to all calls (see ``Chat``).
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

    /// Ends the membership: the chat's user leaves the channel or, as a moderator, removes another user. Does nothing
    /// when the membership has already ended.
    ///
    /// - Parameter reason: the moderator's reason; nil for none.
    /// - Throws: `.forbidden` for another user's membership, unless the chat's user is a moderator; the errors common
    ///   to all calls (see ``Chat``).
    public func delete(reason: String? = nil) async throws(ChatError) {
        try await chat.backend.remove(member: userId, from: channelId, reason: reason)
    }
}
