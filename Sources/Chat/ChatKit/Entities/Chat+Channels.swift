public import ChatModel

extension Chat {
    /// Returns a channel, or nil when it has no record. A channel without a record can have messages.
    ///
    /// - Throws: `.forbidden` when the user may not see the channel; the errors common to all calls (see ``Chat``).
    public func getChannel(channelId: String) async throws(ChatError) -> Channel? {
        try await backend.channel(channelId).map { Channel(chat: self, $0) }
    }

    /// Returns a page of the channels that have a record. The parameters work as in
    /// ``getUsers(filter:sort:order:after:before:limit:page:)``.
    ///
    /// - Throws: `.malformed` for an invalid filter, order or page; the errors common to all calls (see ``Chat``).
    public func getChannels(
        filter: String? = nil, sort: [String] = [], order: ListOrder? = nil, after: Timetoken? = nil,
        before: Timetoken? = nil, limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (channels: [Channel], page: String?) {
        let found = try await backend.channels(
            RecordList(
                filter: filter, sort: sort, order: order, after: after, before: before, limit: limit, page: page))
        return (found.items.map { Channel(chat: self, $0) }, found.cursor)
    }

    /// Creates a channel's record. The creator becomes a moderator of the channel and, unless the channel is open, a
    /// member.
    ///
    /// - Parameters:
    ///   - id: the id of the channel; nil generates an id.
    ///   - type: `group`, `public` or `open`. Direct channels are created by
    ///     ``createDirectConversation(invitedUser:name:custom:)``.
    /// - Throws: `.conflict` when the record already exists.
    public func createChannel(
        id: String? = nil, name: String? = nil, type: ChannelType = .public,
        custom: [String: any JSONCodable]? = nil, description: String? = nil, status: String? = nil,
        coverUrl: String? = nil, customType: String? = nil
    ) async throws(ChatError) -> Channel {
        let fields = try ChannelFields(
            name: name, custom: custom, description: description, status: status, coverUrl: coverUrl,
            customType: customType)
        return Channel(
            chat: self, try await backend.create(channel: id, kind: try type.kind, fields, users: [], isDistinct: false)
        )
    }

    /// Returns the direct conversation of the chat's user with another user. Creates it when it does not exist.
    ///
    /// - Throws: `.malformed` or `.tooLarge` for an invalid field; the errors common to all calls (see ``Chat``).
    public func createDirectConversation(
        invitedUser: User, name: String? = nil, custom: [String: any JSONCodable]? = nil
    ) async throws(ChatError) -> Conversation {
        try await converse(nil, .direct, name, custom, with: [invitedUser])
    }

    /// Creates a conversation of the chat's user with several users, who are invited.
    ///
    /// - Parameter isDistinct: true returns an existing distinct conversation of the same users, if there is one. A
    ///   conversation is distinct until its set of members changes.
    /// - Throws: `.conflict` when a channel with this id exists; `.invalid` for more users than one call may name (100
    ///   by default); `.malformed` or `.tooLarge` for an invalid field; the errors common to all calls (see ``Chat``).
    public func createGroupConversation(
        invitedUsers: [User], channelId: String? = nil, name: String? = nil,
        custom: [String: any JSONCodable]? = nil, isDistinct: Bool = false
    ) async throws(ChatError) -> Conversation {
        try await converse(channelId, .group, name, custom, with: invitedUsers, isDistinct: isDistinct)
    }

    private func converse(
        _ id: String?, _ kind: ChannelKind, _ name: String?, _ custom: [String: any JSONCodable]?, with users: [User],
        isDistinct: Bool = false
    ) async throws(ChatError) -> Conversation {
        let fields = try ChannelFields(
            name: name, custom: custom, description: nil, status: nil, coverUrl: nil, customType: nil)
        let record = try await backend.create(
            channel: id, kind: kind, fields, users: users.map(\.id), isDistinct: isDistinct)
        let channel = Channel(chat: self, record)
        let members = try await channel.getMembers(limit: users.count + 1).members
        return Conversation(
            channel: channel, hostMembership: members.first { $0.userId == userId },
            inviteeMemberships: members.filter { $0.userId != userId })
    }
}

/// A conversation and its memberships.
public struct Conversation: Sendable {
    /// The conversation's channel.
    public let channel: Channel
    /// The membership of the conversation's creator; nil when the creator has left.
    public let hostMembership: Membership?
    /// The memberships of the invited users.
    public let inviteeMemberships: [Membership]

    /// The membership of the user who was invited to a direct conversation.
    public var inviteeMembership: Membership? { inviteeMemberships.first }
}

extension ChannelType {
    fileprivate var kind: ChannelKind {
        get throws(ChatError) {
            guard let kind = ChannelKind(rawValue: rawValue), kind != .direct else {
                throw ChatError(
                    .malformed,
                    "'type' must be group, public or open; create a direct channel with createDirectConversation")
            }
            return kind
        }
    }
}
