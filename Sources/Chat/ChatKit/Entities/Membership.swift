public import ChatModel

/// A user in a channel, as it was when it was read.
public struct Membership: Sendable {
    public let chat: Chat
    public let userId: String
    public let channelId: String
    /// `invited` until the invitation is accepted.
    public let state: MemberState
    public let role: MemberRole
    /// Values of the app's own.
    public let custom: [String: any JSONCodable]
    public let status: String?
    public let type: String?
    /// The newest message the user has read; zero for none.
    public let lastReadMessageTimetoken: Timetoken
    /// The newest message that has reached a device of the user; zero for none.
    public let lastDeliveredMessageTimetoken: Timetoken
    /// Whether the channel does not stand in the user's list.
    public let isHidden: Bool
    /// Which messages the user wants push notifications of. A gateway shows it to the user alone: of others it is `all`.
    public let pushPreference: PushPreference
    public let updated: Timetoken
    public let eTag: String

    init(chat: Chat, _ record: MembershipRecord) {
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

    /// Sequences of what happens to the membership; for each there is an `on…` with a closure.
    public var stream: MembershipStreams { MembershipStreams(membership: self) }
}

extension Membership {
    /// Changes what is given, keeps the rest, and returns the membership as it is then.
    public func update(
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil,
        pushPreference: PushPreference? = nil
    ) async throws(ChatError) -> Membership {
        var fields = MembershipFields()
        fields.custom = custom?.object
        fields.status = status
        fields.type = type
        fields.push = pushPreference
        return Membership(
            chat: chat, try await chat.backend.update(member: userId, of: channelId, fields, eTag: nil))
    }

    /// Ends the membership: the user leaves, or is removed by one who moderates the channel. Nothing happens when it has
    /// ended already.
    ///
    /// - Parameter reason: why, in a moderator's words.
    public func delete(reason: String? = nil) async throws(ChatError) {
        try await chat.backend.remove(member: userId, from: channelId, reason: reason)
    }
}
