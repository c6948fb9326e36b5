import ChatKit
import ChatModel
import ChatRemote

/// A page of channels, and the position of the next page while there are more.
public typealias ChatChannelsPage = (channels: [ChannelImpl], page: (any PubNubHashedPage)?)

/// A page of memberships, and the position of the next page while there are more.
public typealias ChatMembershipsPage = (memberships: [MembershipImpl], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Returns a channel; nil when it has no record.
    public func getChannel(channelId: String) async throws -> ChannelImpl? {
        try await call { try await $0.getChannel(channelId: channelId).map { ChannelImpl(self, $0) } }
    }

    /// Reads a channel; nil when it has no record.
    public func getChannel(channelId: String, completion: ChatCompletion<ChannelImpl?>? = nil) {
        run(completion) { try await self.getChannel(channelId: channelId) }
    }

    /// Returns a page of the channels that have a record.
    ///
    /// - Parameters:
    ///   - filter: an expression over fields: `name LIKE 'An*'`.
    ///   - limit: the maximum number of channels, 1 to 250; 100 if nil.
    public func getChannels(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil
    ) async throws -> ChatChannelsPage {
        try await withBackend { backend in
            let found = try await backend.channels(RecordList(filter, sort, limit, page))
            let chat = try self.connected
            return (found.items.map { ChannelImpl(self, ChatKit.Channel(chat: chat, $0)) }, found.next)
        }
    }

    /// Reads a page of the channels that have a record.
    public func getChannels(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatChannelsPage>? = nil
    ) {
        run(completion) { try await self.getChannels(filter: filter, sort: sort, limit: limit, page: page) }
    }

    /// Returns channels whose name begins with a text.
    ///
    /// - Parameters:
    ///   - text: the beginning; a leading `#` is ignored.
    ///   - limit: the maximum number of channels, 1 to 250.
    public func getChannelSuggestions(text: String, limit: Int = 10) async throws -> [ChannelImpl] {
        try await getChannels(
            filter: "name LIKE \(prefixPattern(text, without: "#"))", sort: [.init(property: .name)], limit: limit
        ).channels
    }

    /// Reads channels whose name begins with a text.
    public func getChannelSuggestions(
        text: String, limit: Int = 10, completion: ChatCompletion<[ChannelImpl]>? = nil
    ) {
        run(completion) { try await self.getChannelSuggestions(text: text, limit: limit) }
    }

    /// Changes the given fields of a channel, keeps the others, and returns the changed channel.
    ///
    /// - Parameter type: accepted when it is the channel's own kind, which never changes.
    public func updateChannel(
        id: String, name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil
    ) async throws -> ChannelImpl {
        try await call { chat in
            let channel = try await chat.channel(id).update(
                name: name, custom: custom?.values, description: description, status: status)
            if let type, type != ChannelType(channel.type) {
                throw PubNubError(
                    .invalidArguments,
                    details: [
                        "the other fields are changed; '\(id)' stays a \(channel.type) channel, because the kind of a "
                            + "channel never changes"
                    ])
            }
            return ChannelImpl(self, channel)
        }
    }

    /// Changes the given fields of a channel and keeps the others.
    ///
    /// - Parameter completion: receives the changed channel.
    public func updateChannel(
        id: String, name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil, completion: ChatCompletion<ChannelImpl>? = nil
    ) {
        run(completion) {
            try await self.updateChannel(
                id: id, name: name, custom: custom, description: description, status: status, type: type)
        }
    }

    /// Deletes a channel's record and its memberships. The channel's messages stay.
    public func deleteChannel(id: String) async throws { try await withBackend { try await $0.delete(channel: id) } }

    /// Deletes a channel's record and its memberships. The channel's messages stay.
    public func deleteChannel(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.deleteChannel(id: id) }
    }

    /// Creates a public channel. The chat's user becomes a member and a moderator of it.
    ///
    /// - Parameter channelId: nil generates an id.
    public func createPublicConversation(
        channelId: String? = nil, channelName: String? = nil, channelDescription: String? = nil,
        channelCustom: [String: any JSONCodableScalar]? = nil, channelStatus: String? = nil
    ) async throws -> ChannelImpl {
        try await call { chat in
            ChannelImpl(
                self,
                try await chat.createChannel(
                    id: channelId, name: channelName, custom: channelCustom?.values, description: channelDescription,
                    status: channelStatus))
        }
    }

    /// Creates a public channel. The chat's user becomes a member and a moderator of it.
    ///
    /// - Parameter completion: receives the channel.
    public func createPublicConversation(
        channelId: String? = nil, channelName: String? = nil, channelDescription: String? = nil,
        channelCustom: [String: any JSONCodableScalar]? = nil, channelStatus: String? = nil,
        completion: ChatCompletion<ChannelImpl>? = nil
    ) {
        run(completion) {
            try await self.createPublicConversation(
                channelId: channelId, channelName: channelName, channelDescription: channelDescription,
                channelCustom: channelCustom, channelStatus: channelStatus)
        }
    }

    /// Returns the direct conversation with a user, and creates it when it does not exist.
    ///
    /// - Parameters:
    ///   - channelId: accepted when it is the conversation's id, which the gateway derives from the two users.
    ///   - membershipCustom: the fields of the own membership.
    public func createDirectConversation(
        invitedUser: UserImpl, channelId: String? = nil, channelName: String? = nil,
        channelDescription: String? = nil, channelCustom: [String: any JSONCodableScalar]? = nil,
        channelStatus: String? = nil, membershipCustom: [String: any JSONCodableScalar]? = nil
    ) async throws -> CreateDirectConversationResult {
        let made = try await converse([invitedUser]) { backend in
            try await backend.create(
                channel: nil, kind: .direct,
                ChannelFields(channelName, channelDescription, channelCustom, channelStatus),
                users: [invitedUser.id], isDistinct: false)
        } customFields: {
            membershipCustom
        }
        if let channelId, channelId != made.channel.id {
            throw PubNubError(
                .invalidArguments,
                details: ["the id of a direct conversation is derived from its users: '\(made.channel.id)' exists now"])
        }
        guard let invitee = made.inviteeMemberships.first else {
            throw PubNubError(.resourceNotFound, details: ["the user '\(invitedUser.id)' has left the conversation"])
        }
        return CreateDirectConversationResult(
            channel: made.channel, hostMembership: made.hostMembership, inviteeMembership: invitee)
    }

    /// Reads the direct conversation with a user, and creates it when it does not exist.
    public func createDirectConversation(
        invitedUser: UserImpl, channelId: String? = nil, channelName: String? = nil,
        channelDescription: String? = nil, channelCustom: [String: any JSONCodableScalar]? = nil,
        channelStatus: String? = nil, membershipCustom: [String: any JSONCodableScalar]? = nil,
        completion: ChatCompletion<CreateDirectConversationResult>? = nil
    ) {
        run(completion) {
            try await self.createDirectConversation(
                invitedUser: invitedUser, channelId: channelId, channelName: channelName,
                channelDescription: channelDescription, channelCustom: channelCustom, channelStatus: channelStatus,
                membershipCustom: membershipCustom)
        }
    }

    /// Creates a conversation of several users, who are invited.
    ///
    /// - Parameters:
    ///   - channelId: nil generates an id.
    ///   - membershipCustom: the fields of the own membership.
    public func createGroupConversation(
        invitedUsers: [UserImpl], channelId: String? = nil, channelName: String? = nil,
        channelDescription: String? = nil, channelCustom: [String: any JSONCodableScalar]? = nil,
        channelStatus: String? = nil, membershipCustom: [String: any JSONCodableScalar]? = nil
    ) async throws -> CreateGroupConversationResult {
        try await converse(invitedUsers) { backend in
            try await backend.create(
                channel: channelId, kind: .group,
                ChannelFields(channelName, channelDescription, channelCustom, channelStatus),
                users: invitedUsers.map(\.id), isDistinct: false)
        } customFields: {
            membershipCustom
        }
    }

    /// Creates a conversation of several users, who are invited.
    public func createGroupConversation(
        invitedUsers: [UserImpl], channelId: String? = nil, channelName: String? = nil,
        channelDescription: String? = nil, channelCustom: [String: any JSONCodableScalar]? = nil,
        channelStatus: String? = nil, membershipCustom: [String: any JSONCodableScalar]? = nil,
        completion: ChatCompletion<CreateGroupConversationResult>? = nil
    ) {
        run(completion) {
            try await self.createGroupConversation(
                invitedUsers: invitedUsers, channelId: channelId, channelName: channelName,
                channelDescription: channelDescription, channelCustom: channelCustom, channelStatus: channelStatus,
                membershipCustom: membershipCustom)
        }
    }

    /// Creates a conversation, sets the fields of the own membership, and reads the memberships of the invited users.
    private func converse(
        _ invited: [UserImpl], _ create: (any ChatBackend) async throws -> ChannelState,
        customFields: () -> [String: any JSONCodableScalar]?
    ) async throws -> CreateGroupConversationResult {
        try await withBackend { backend in
            let channel = ChannelImpl(self, ChatKit.Channel(chat: try self.connected, try await create(backend)))
            var fields = MembershipFields()
            fields.custom = customFields()?.mapValues(\.scalarValue).object
            let host = try await backend.join(channel.id, fields)
            let user = UserImpl(self, try await backend.user(backend.user) ?? UserRecord(id: backend.user))
            let members = try await self.concurrently(invited) { user -> MembershipImpl? in
                try await backend.member(user.id, of: channel.id).map {
                    MembershipImpl(ChatKit.Membership(chat: try self.connected, $0), channel: channel, user: user)
                }
            }
            return CreateGroupConversationResult(
                channel: channel,
                hostMembership: MembershipImpl(
                    ChatKit.Membership(chat: try self.connected, host), channel: channel, user: user),
                inviteeMemberships: members.compactMap(\.self))
        }
    }

    /// Returns a channel group, without checking that it exists.
    public func getChannelGroup(id: String) -> ChannelGroupImpl { ChannelGroupImpl(self, id) }

    /// Deletes a channel group. Its channels stay.
    public func removeChannelGroup(id: String) async throws {
        try await withBackend { try await $0.delete(group: id) }
    }

    /// Deletes a channel group. Its channels stay.
    public func removeChannelGroup(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.removeChannelGroup(id: id) }
    }
}

// MARK: - Unread messages

/// A page of unread counts, and the position of the next page while there are more.
public typealias ChatUnreadPage = (countsByChannel: [GetUnreadMessagesCount], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Returns the unread counts of a page of the user's memberships. Channels without unread messages are left out.
    public func fetchUnreadMessagesCounts(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatUnreadPage {
        let found = try await currentUser.getMemberships(limit: limit, page: page, filter: filter, sort: sort)
        let counts = try await concurrently(found.memberships) { membership in
            GetUnreadMessagesCount(
                channel: membership.channel, membership: membership,
                count: try await membership.getUnreadMessagesCount() ?? 0)
        }
        return (counts.filter { $0.count > 0 }, found.page)
    }

    /// Reads the unread counts of a page of the user's memberships. Channels without unread messages are left out.
    public func fetchUnreadMessagesCounts(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatUnreadPage>? = nil
    ) {
        run(completion) {
            try await self.fetchUnreadMessagesCounts(limit: limit, page: page, filter: filter, sort: sort)
        }
    }

    /// Reads the unread counts of a page of the user's memberships. Channels without unread messages are left out.
    @available(*, deprecated, message: "use fetchUnreadMessagesCounts")
    public func getUnreadMessagesCount(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<[GetUnreadMessagesCount]>? = nil
    ) {
        run(completion) {
            try await self.fetchUnreadMessagesCounts(limit: limit, page: page, filter: filter, sort: sort)
                .countsByChannel
        }
    }

    /// Marks the channels of a page of the user's memberships as read, and returns the changed memberships.
    public func markAllMessagesAsRead(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatMembershipsPage {
        let found = try await currentUser.getMemberships(limit: limit, page: page, filter: filter, sort: sort)
        let joined = found.memberships.filter { $0.membership.state == .joined }
        let marked = try await concurrently(joined) { membership -> MembershipImpl? in
            try await self.withBackend { backend in
                try await backend.mark(.read, of: membership.user.id, in: membership.channel.id, at: nil)
            }
            return try await self.membership(of: membership.user.id, in: membership.channel.id)
        }
        return (marked.compactMap(\.self), found.page)
    }

    /// Marks the channels of a page of the user's memberships as read.
    ///
    /// - Parameter completion: receives the changed memberships.
    public func markAllMessagesAsRead(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatMembershipsPage>? = nil
    ) {
        run(completion) {
            try await self.markAllMessagesAsRead(limit: limit, page: page, filter: filter, sort: sort)
        }
    }
}

extension ChannelFields {
    fileprivate init(
        _ name: String?, _ description: String?, _ custom: [String: any JSONCodableScalar]?, _ status: String?
    ) {
        self.init()
        self.name = name
        self.description = description
        self.custom = custom?.mapValues(\.scalarValue).object
        self.status = status
    }
}
