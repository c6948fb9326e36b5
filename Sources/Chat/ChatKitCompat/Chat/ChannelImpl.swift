import ChatKit
import ChatModel
import ChatRemote

/// A channel, with the values of its record when the record was read.
public final class ChannelImpl: Sendable, CustomStringConvertible {
    /// The chat that the channel belongs to.
    public let chat: ChatImpl
    let channel: ChatKit.Channel

    init(_ chat: ChatImpl, _ channel: ChatKit.Channel) {
        self.chat = chat
        self.channel = channel
    }

    /// The name of the channel.
    public var id: String { channel.id }
    /// The name for display; nil for none.
    public var name: String? { channel.name }
    /// The app's own fields; empty for none.
    public var custom: [String: any JSONCodableScalar]? { channel.custom.scalars }
    /// The description for display; nil for none.
    public var channelDescription: String? { channel.description }
    /// The time of the last change, in the format of RFC 3339; nil for a channel without a record.
    public var updated: String? { channel.updated.timeText }
    /// A status that the app defines, as free text; nil for none.
    public var status: String? { channel.status }
    /// The kind of the channel; ``ChannelType/unknown`` for a channel without a record or an open channel.
    public var type: ChannelType? { ChannelType(channel.type) }

    public var description: String { "ChannelImpl(id: \(id), name: \(name ?? "nil"))" }

    /// The channel's events as sequences.
    public var stream: ChannelStream { ChannelStream(channel: self) }
}

extension ChannelImpl {
    /// Changes the given fields and leaves the other fields unchanged; see
    /// ``ChatImpl/updateChannel(id:name:custom:description:status:type:)``.
    ///
    /// - Returns: the changed channel.
    /// - Throws: the errors of ``ChatImpl/updateChannel(id:name:custom:description:status:type:)``.
    public func update(
        name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil
    ) async throws -> ChannelImpl {
        try await chat.updateChannel(
            id: id, name: name, custom: custom, description: description, status: status, type: type)
    }

    /// Changes the given fields and leaves the other fields unchanged; see
    /// ``ChatImpl/updateChannel(id:name:custom:description:status:type:)``.
    ///
    /// - Parameter completion: receives the changed channel.
    public func update(
        name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil, completion: ChatCompletion<ChannelImpl>? = nil
    ) {
        chat.run(completion) {
            try await self.update(name: name, custom: custom, description: description, status: status, type: type)
        }
    }

    /// Deletes the channel's record and its memberships, but not its messages.
    ///
    /// - Throws: `forbidden` when the chat's user may not delete the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func delete() async throws { try await chat.deleteChannel(id: id) }

    /// Deletes the channel's record and its memberships, but not its messages.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Shows the chat's user as typing for ten seconds or until ``stopTyping()``.
    ///
    /// - Returns: always nil. The return type is that of PubNub's SDK.
    /// - Throws: `forbidden` when the chat's user may not write in the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    @discardableResult
    public func startTyping() async throws -> Timetoken? {
        try await chat.call { _ in try await self.channel.startTyping() }
        return nil
    }

    /// Shows the chat's user as typing for ten seconds or until ``stopTyping()``.
    ///
    /// - Parameter completion: receives nil after success.
    public func startTyping(completion: ChatCompletion<Timetoken?>? = nil) {
        chat.run(completion) { try await self.startTyping() }
    }

    /// Shows the chat's user as no longer typing.
    ///
    /// - Returns: always nil. The return type is that of PubNub's SDK.
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    @discardableResult
    public func stopTyping() async throws -> Timetoken? {
        try await chat.call { _ in try await self.channel.stopTyping() }
        return nil
    }

    /// Shows the chat's user as no longer typing.
    ///
    /// - Parameter completion: receives nil after success.
    public func stopTyping(completion: ChatCompletion<Timetoken?>? = nil) {
        chat.run(completion) { try await self.stopTyping() }
    }

    /// Returns the ids of the present users, in ascending order.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of ids.
    ///   - offset: the number of ids to skip; nil selects 0.
    /// - Throws: the errors of ``ChatImpl/whoIsPresent(channelId:limit:offset:)``.
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0) async throws -> [String] {
        try await chat.whoIsPresent(channelId: id, limit: limit, offset: offset)
    }

    /// Reads the ids of the present users; see ``whoIsPresent(limit:offset:)``.
    ///
    /// - Parameter completion: receives the ids of the present users.
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String]>? = nil) {
        chat.run(completion) { try await self.whoIsPresent(limit: limit, offset: offset) }
    }

    /// Returns true when a user is present in the channel.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func isPresent(userId: String) async throws -> Bool {
        try await chat.isPresent(userId: userId, channelId: id)
    }

    /// Reads whether a user is present in the channel.
    ///
    /// - Parameter completion: receives true when a user is present in the channel.
    public func isPresent(userId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isPresent(userId: userId) }
    }
}

// MARK: - Members

extension ChannelImpl {
    /// Joins the channel. When the chat's user is already a member, changes only the given fields of the membership.
    ///
    /// - Parameters:
    ///   - custom: the app's own fields of the membership; nil leaves them unchanged.
    ///   - status: a status, as free text; nil leaves the status unchanged.
    ///   - type: a type, as free text; nil leaves the type unchanged.
    /// - Throws: `forbidden` when the channel requires an invitation that the user does not have, or the user is
    ///   banned; `resourceNotFound` when the channel has no record; `badRequest` or `messageTooLong` for an invalid
    ///   field; the errors common to all calls (see ``ChatImpl``).
    public func join(
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> MembershipImpl {
        try await chat.call { _ in
            let membership = try await self.channel.join(custom: custom?.values, status: status, type: type)
            return MembershipImpl(membership, channel: self, user: self.chat.currentUser)
        }
    }

    /// Joins the channel; see ``join(custom:status:type:)``.
    ///
    /// - Parameter completion: receives the membership.
    public func join(
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil,
        completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.join(custom: custom, status: status, type: type) }
    }

    /// Ends the membership of the chat's user. Does nothing when the user is not a member.
    ///
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func leave() async throws { try await chat.call { _ in try await self.channel.leave() } }

    /// Ends the membership of the chat's user. Does nothing when the user is not a member.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func leave(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.leave() } }

    /// Invites a user, and returns the membership. A user who is already a member stays a member.
    ///
    /// - Throws: `forbidden` when the chat's user may not invite; `resourceNotFound` when the channel has no record or
    ///   the invitation has already ended; the errors common to all calls (see ``ChatImpl``).
    public func invite(user: UserImpl) async throws -> MembershipImpl {
        guard let membership = try await inviteMultiple(users: [user]).first else {
            throw PubNubError(.resourceNotFound, details: ["the invitation of '\(user.id)' no longer exists"])
        }
        return membership
    }

    /// Invites a user; see ``invite(user:)``.
    ///
    /// - Parameter completion: receives the membership.
    public func invite(user: UserImpl, completion: ChatCompletion<MembershipImpl>? = nil) {
        chat.run(completion) { try await self.invite(user: user) }
    }

    /// Invites several users in one step: either all of them or, after an error, none.
    ///
    /// - Returns: the memberships of the users.
    /// - Throws: `forbidden` when the chat's user may not invite; `resourceNotFound` when the channel has no record;
    ///   `badRequest` for more users than one call accepts (100 by default); the errors common to all calls (see
    ///   ``ChatImpl``).
    public func inviteMultiple(users: [UserImpl]) async throws -> [MembershipImpl] {
        try await chat.withBackend { backend in
            let records = try await backend.invite(users.map(\.id), to: self.id)
            return try await self.chat.memberships(records, channel: self)
        }
    }

    /// Invites several users; see ``inviteMultiple(users:)``.
    ///
    /// - Parameter completion: receives the memberships.
    public func inviteMultiple(users: [UserImpl], completion: ChatCompletion<[MembershipImpl]>? = nil) {
        chat.run(completion) { try await self.inviteMultiple(users: users) }
    }

    /// Returns a page of the channel's memberships, including those of invited users.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of memberships, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    ///   - filter: a filter expression, such as `state == 'joined'`; nil selects all memberships.
    ///   - sort: the sort fields, the most significant first; empty selects the gateway's default order.
    /// - Throws: `forbidden` when the chat's user may not read the channel; `badRequest` for an invalid limit, page or
    ///   sort field; `malformedFilterExpression` for an invalid filter; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getMembers(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatMembershipsPage {
        try await chat.withBackend { backend in
            let found = try await backend.members(of: self.id, RecordList(filter, sort, limit, page, other: "user"))
            return (try await self.chat.memberships(found.items, channel: self), found.next)
        }
    }

    /// Reads a page of the channel's memberships; see ``getMembers(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the page of the channel's memberships.
    public func getMembers(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatMembershipsPage>? = nil
    ) {
        chat.run(completion) { try await self.getMembers(limit: limit, page: page, filter: filter, sort: sort) }
    }

    /// Returns a page of the memberships of users who are invited and have not joined. The parameters are those of
    /// ``getMembers(limit:page:filter:sort:)``.
    ///
    /// - Throws: the errors of ``getMembers(limit:page:filter:sort:)``.
    public func getInvitees(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatMembershipsPage {
        let invited = "state == 'invited'"
        return try await getMembers(
            limit: limit, page: page, filter: filter.map { "(\($0)) && \(invited)" } ?? invited, sort: sort)
    }

    /// Reads a page of the memberships of users who are invited and have not joined; see
    /// ``getMembers(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the page of the memberships of users who are invited and have not joined.
    public func getInvitees(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatMembershipsPage>? = nil
    ) {
        chat.run(completion) { try await self.getInvitees(limit: limit, page: page, filter: filter, sort: sort) }
    }

    /// Returns a user's membership, or nil when the user is not a member.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getMember(userId: String) async throws -> MembershipImpl? {
        try await chat.withBackend { backend in
            guard let record = try await backend.member(userId, of: self.id) else { return nil }
            return try await self.chat.memberships([record], channel: self).first
        }
    }

    /// Reads a user's membership; nil when the user is not a member.
    ///
    /// - Parameter completion: receives the user's membership; nil when the user is not a member.
    public func getMember(userId: String, completion: ChatCompletion<MembershipImpl?>? = nil) {
        chat.run(completion) { try await self.getMember(userId: userId) }
    }

    /// Returns true when a user is a member of the channel or is invited to it.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func hasMember(userId: String) async throws -> Bool {
        try await chat.withBackend { try await $0.member(userId, of: self.id) } != nil
    }

    /// Reads whether a user is a member of the channel or is invited to it.
    ///
    /// - Parameter completion: receives true when a user is a member of the channel or is invited to it.
    public func hasMember(userId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.hasMember(userId: userId) }
    }

    /// Returns members of the channel whose name begins with a text. Only the first 250 users of the app with such a
    /// name are examined.
    ///
    /// - Parameters:
    ///   - text: the beginning of the name; a leading `@` is ignored.
    ///   - limit: the maximum number of members.
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getUserSuggestions(text: String, limit: Int = 10) async throws -> [MembershipImpl] {
        let users = try await chat.getUserSuggestions(text: text, limit: 250)
        let members = try await chat.concurrently(users) { user in
            try await self.chat.withBackend { backend in
                try await backend.member(user.id, of: self.id).map {
                    MembershipImpl(ChatKit.Membership(chat: try self.chat.connected, $0), channel: self, user: user)
                }
            }
        }
        return Array(members.compactMap(\.self).prefix(max(limit, 0)))
    }

    /// Reads members whose name begins with a text; see ``getUserSuggestions(text:limit:)``.
    ///
    /// - Parameter completion: receives the members whose name begins with a text.
    public func getUserSuggestions(
        text: String, limit: Int = 10, completion: ChatCompletion<[MembershipImpl]>? = nil
    ) {
        chat.run(completion) { try await self.getUserSuggestions(text: text, limit: limit) }
    }

    /// Returns the read marks of a page of the channel's memberships. A read mark is the newest message that a member
    /// has read; members who have read no message are left out. The parameters are those of
    /// ``getMembers(limit:page:filter:sort:)``.
    ///
    /// - Returns: the read marks; `page` is the position of the next page, or nil on the last page.
    /// - Throws: the errors of ``getMembers(limit:page:filter:sort:)``.
    public func fetchReadReceipts(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> (receipts: [ReadReceipt], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.members(of: self.id, RecordList(filter, sort, limit, page, other: "user"))
            let receipts = found.items.filter { $0.read != .zero }
                .map { ReadReceipt(userId: $0.user, lastReadTimetoken: $0.read.rawValue) }
            return (receipts, found.next)
        }
    }

    /// Reads the read marks of a page of the channel's memberships; see ``fetchReadReceipts(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the read marks of a page of the channel's memberships.
    public func fetchReadReceipts(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [],
        completion: ChatCompletion<(receipts: [ReadReceipt], page: (any PubNubHashedPage)?)>? = nil
    ) {
        chat.run(completion) {
            try await self.fetchReadReceipts(limit: limit, page: page, filter: filter, sort: sort)
        }
    }
}

// MARK: - Moderation

extension ChannelImpl {
    /// Bans or mutes a user in the channel, and replaces the user's current restriction. When `ban` and `mute` are both
    /// false, the restriction ends. The chat's user must be a moderator of the channel.
    ///
    /// - Parameters:
    ///   - ban: true when the user may neither read nor write in the channel.
    ///   - mute: true when the user may not write in the channel.
    ///   - reason: the moderator's reason, which the restricted user receives; nil for none.
    /// - Throws: `forbidden` when the chat's user is not a moderator; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func setRestrictions(
        user: UserImpl, ban: Bool = false, mute: Bool = false, reason: String? = nil
    ) async throws {
        try await chat.withBackend { backend in
            try await backend.restrict(user.id, in: self.id, ban: ban, mute: mute, reason: reason, until: nil)
        }
    }

    /// Bans or mutes a user in the channel; see ``setRestrictions(user:ban:mute:reason:)``.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func setRestrictions(
        user: UserImpl, ban: Bool = false, mute: Bool = false, reason: String? = nil,
        completion: ChatCompletion<Void>? = nil
    ) {
        chat.run(completion) { try await self.setRestrictions(user: user, ban: ban, mute: mute, reason: reason) }
    }

    /// Returns the restriction of a user in the channel. When there is none, `ban` and `mute` are false.
    ///
    /// - Throws: `forbidden` for another user's restriction, unless the chat's user is a moderator of the channel; the
    ///   errors common to all calls (see ``ChatImpl``).
    public func getUserRestrictions(user: UserImpl) async throws -> Restriction {
        try await chat.withBackend { backend in
            try await backend.restriction(of: user.id, in: self.id).map { Restriction($0) }
                ?? Restriction(userId: user.id, channelId: self.id, ban: false, mute: false, reason: nil)
        }
    }

    /// Reads the restriction of a user in the channel. When there is none, `ban` and `mute` are false.
    ///
    /// - Parameter completion: receives the restriction of a user in the channel.
    public func getUserRestrictions(user: UserImpl, completion: ChatCompletion<Restriction>?) {
        chat.run(completion) { try await self.getUserRestrictions(user: user) }
    }

    /// Returns a page of all restrictions in the channel. The chat's user must be a moderator of the channel.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of restrictions, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    /// - Returns: the restrictions; `page` is the position of the next page, or nil on the last page.
    /// - Throws: `forbidden` when the chat's user is not a moderator; `badRequest` for an invalid limit or page; the
    ///   errors common to all calls (see ``ChatImpl``).
    public func getUsersRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> (restrictions: [Restriction], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.restrictions(in: self.id, limit: limit ?? 100, cursor: page?.start)
            return (found.items.map { Restriction($0) }, found.next)
        }
    }

    /// Reads a page of all restrictions in the channel; see ``getUsersRestrictions(limit:page:)``.
    ///
    /// - Parameter completion: receives the page of all restrictions in the channel.
    public func getUsersRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil,
        completion: ChatCompletion<(restrictions: [Restriction], page: (any PubNubHashedPage)?)>?
    ) {
        chat.run(completion) { try await self.getUsersRestrictions(limit: limit, page: page) }
    }
}
