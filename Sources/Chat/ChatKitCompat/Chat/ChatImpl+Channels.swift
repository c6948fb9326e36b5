import ChatKit
import ChatModel
import ChatRemote

/// A page of channels. `page` is the position of the next page, or nil on the last page.
public typealias ChatChannelsPage = (channels: [ChannelImpl], page: (any PubNubHashedPage)?)

/// A page of memberships. `page` is the position of the next page, or nil on the last page.
public typealias ChatMembershipsPage = (memberships: [MembershipImpl], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Returns a channel, or nil when it has no record. A channel without a record can have messages.
    ///
    /// - Throws: `forbidden` when the chat's user may not see the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getChannel(channelId: String) async throws -> ChannelImpl? {
        try await call { try await $0.getChannel(channelId: channelId).map { ChannelImpl(self, $0) } }
    }

    /// Reads a channel; nil when it has no record.
    ///
    /// - Parameter completion: receives the channel; nil when it has no record.
    public func getChannel(channelId: String, completion: ChatCompletion<ChannelImpl?>? = nil) {
        run(completion) { try await self.getChannel(channelId: channelId) }
    }

    /// Returns a page of the channels that have a record.
    ///
    /// - Parameters:
    ///   - filter: a filter expression, such as `name LIKE 'An*'`; nil selects all channels.
    ///   - sort: the sort fields, the most significant first; empty selects the gateway's default order.
    ///   - limit: the maximum number of channels, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    /// - Throws: `malformedFilterExpression` for an invalid filter; `badRequest` for an invalid limit, page or sort
    ///   field; the errors common to all calls (see ``ChatImpl``).
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

    /// Reads a page of the channels that have a record; see ``getChannels(filter:sort:limit:page:)``.
    ///
    /// - Parameter completion: receives the page of the channels that have a record.
    public func getChannels(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatChannelsPage>? = nil
    ) {
        run(completion) { try await self.getChannels(filter: filter, sort: sort, limit: limit, page: page) }
    }

    /// Returns channels whose name begins with a text, sorted by name.
    ///
    /// - Parameters:
    ///   - text: the beginning of the name; a leading `#` is ignored.
    ///   - limit: the maximum number of channels, 1 to 250.
    /// - Throws: `badRequest` for an invalid limit; the errors common to all calls (see ``ChatImpl``).
    public func getChannelSuggestions(text: String, limit: Int = 10) async throws -> [ChannelImpl] {
        try await getChannels(
            filter: "name LIKE \(prefixPattern(text, without: "#"))", sort: [.init(property: .name)], limit: limit
        ).channels
    }

    /// Reads channels whose name begins with a text; see ``getChannelSuggestions(text:limit:)``.
    ///
    /// - Parameter completion: receives the channels whose name begins with a text.
    public func getChannelSuggestions(
        text: String, limit: Int = 10, completion: ChatCompletion<[ChannelImpl]>? = nil
    ) {
        run(completion) { try await self.getChannelSuggestions(text: text, limit: limit) }
    }

    /// Changes the given fields of a channel. A nil field does not change.
    ///
    /// - Parameters:
    ///   - custom: the new value of the app's own fields, which replaces all of them.
    ///   - type: the current kind of the channel; nil for no check. The kind of a channel never changes.
    /// - Returns: the changed channel.
    /// - Throws: `invalidArguments` when `type` is not the current kind, although the other fields have been changed;
    ///   `resourceNotFound` when the channel has no record; `forbidden` when the chat's user may not change the
    ///   channel; `badRequest` or `messageTooLong` for an invalid field; the errors common to all calls (see
    ///   ``ChatImpl``).
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
                        "'type' cannot be changed: '\(id)' stays a \(channel.type) channel, because the kind of a "
                            + "channel never changes; the other fields were changed"
                    ])
            }
            return ChannelImpl(self, channel)
        }
    }

    /// Changes the given fields of a channel; see ``updateChannel(id:name:custom:description:status:type:)``.
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

    /// Deletes a channel's record and its memberships, but not its messages. Does nothing when the channel has no
    /// record.
    ///
    /// - Throws: `forbidden` when the chat's user may not delete the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func deleteChannel(id: String) async throws { try await withBackend { try await $0.delete(channel: id) } }

    /// Deletes a channel's record and its memberships, but not its messages. Does nothing when the channel has no
    /// record.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func deleteChannel(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.deleteChannel(id: id) }
    }

    /// Creates a public channel. The chat's user becomes a member and a moderator of the channel.
    ///
    /// - Parameter channelId: the name of the channel; nil generates a name.
    /// - Returns: the new channel.
    /// - Throws: `conflict` when the channel already has a record; `badRequest` or `messageTooLong` for an invalid
    ///   field; the errors common to all calls (see ``ChatImpl``).
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

    /// Creates a public channel. The chat's user becomes a member and a moderator of the channel.
    ///
    /// - Parameter completion: receives the new channel.
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

    /// Returns the direct conversation of the chat's user with another user. Creates the conversation when it does not
    /// exist.
    ///
    /// - Parameters:
    ///   - channelId: the expected id of the conversation, which the gateway derives from the ids of the two users; nil
    ///     for no check.
    ///   - membershipCustom: the app's own fields of the membership of the chat's user; nil leaves these fields
    ///     unchanged.
    /// - Throws: `invalidArguments` for a `channelId` other than the derived id, after the conversation has been
    ///   created; `resourceNotFound` when the invited user has left the conversation; `badRequest` or `messageTooLong`
    ///   for an invalid field; the errors common to all calls (see ``ChatImpl``).
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
                details: [
                    "the id of a direct conversation is derived from its users; the conversation now exists as '\(made.channel.id)'"
                ])
        }
        guard let invitee = made.inviteeMemberships.first else {
            throw PubNubError(.resourceNotFound, details: ["the user '\(invitedUser.id)' has left the conversation"])
        }
        return CreateDirectConversationResult(
            channel: made.channel, hostMembership: made.hostMembership, inviteeMembership: invitee)
    }

    /// Reads the direct conversation of the chat's user with another user. Creates the conversation when it does not
    /// exist.
    ///
    /// - Parameter completion: receives the conversation and its memberships.
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

    /// Creates a group channel and invites users to it. The chat's user becomes a member of the channel.
    ///
    /// - Parameters:
    ///   - channelId: the name of the channel; nil generates a name.
    ///   - membershipCustom: the app's own fields of the membership of the chat's user; nil for none.
    /// - Throws: `conflict` when the channel already has a record; `badRequest` for more users than one call accepts
    ///   (100 by default); `badRequest` or `messageTooLong` for an invalid field; the errors common to all calls (see
    ///   ``ChatImpl``).
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

    /// Creates a group channel and invites users to it. The chat's user becomes a member of the channel.
    ///
    /// - Parameter completion: receives the channel and its memberships.
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

    /// Creates a conversation, sets the app's own fields of the membership of the chat's user, and reads the
    /// memberships of the invited users.
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

    /// Returns a channel group by its name, without checking that the group exists.
    public func getChannelGroup(id: String) -> ChannelGroupImpl { ChannelGroupImpl(self, id) }

    /// Deletes a channel group, but not its channels. Does nothing when the group does not exist.
    ///
    /// - Throws: `forbidden` when the credential may not change groups; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func removeChannelGroup(id: String) async throws {
        try await withBackend { try await $0.delete(group: id) }
    }

    /// Deletes a channel group, but not its channels. Does nothing when the group does not exist.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func removeChannelGroup(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.removeChannelGroup(id: id) }
    }
}

// MARK: - Unread messages

/// A page of unread counts. `page` is the position of the next page, or nil on the last page.
public typealias ChatUnreadPage = (countsByChannel: [GetUnreadMessagesCount], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Returns the number of unread messages for each channel on a page of the user's memberships. Channels without
    /// unread messages are left out. The parameters are those of ``UserImpl/getMemberships(limit:page:filter:sort:)``.
    ///
    /// - Throws: the errors of ``UserImpl/getMemberships(limit:page:filter:sort:)``.
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

    /// Reads the number of unread messages for each channel on a page of the user's memberships; see
    /// ``fetchUnreadMessagesCounts(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the number of unread messages for each channel on a page of the user's
    ///   memberships.
    public func fetchUnreadMessagesCounts(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatUnreadPage>? = nil
    ) {
        run(completion) {
            try await self.fetchUnreadMessagesCounts(limit: limit, page: page, filter: filter, sort: sort)
        }
    }

    /// Reads the number of unread messages for each channel on a page of the user's memberships; see
    /// ``fetchUnreadMessagesCounts(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the counts, but not the position of the next page.
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

    /// Marks the channels on a page of the user's memberships as read. Channels that the user is only invited to are
    /// left out. The parameters are those of ``UserImpl/getMemberships(limit:page:filter:sort:)``.
    ///
    /// - Returns: the changed memberships; `page` is the position of the next page, or nil on the last page.
    /// - Throws: the errors of ``UserImpl/getMemberships(limit:page:filter:sort:)``.
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

    /// Marks the channels on a page of the user's memberships as read; see
    /// ``markAllMessagesAsRead(limit:page:filter:sort:)``.
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
