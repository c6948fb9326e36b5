import ChatKit
import ChatModel
import ChatRemote

/// A channel, as its record was when it was read.
public final class ChannelImpl: Sendable, CustomStringConvertible {
    public let chat: ChatImpl
    let channel: ChatKit.Channel

    init(_ chat: ChatImpl, _ channel: ChatKit.Channel) {
        self.chat = chat
        self.channel = channel
    }

    public var id: String { channel.id }
    /// The name for display.
    public var name: String? { channel.name }
    /// Fields of the app's own.
    public var custom: [String: any JSONCodableScalar]? { channel.custom.scalars }
    public var channelDescription: String? { channel.description }
    /// The time of the last change, in the format of RFC 3339; nil for a channel without a record.
    public var updated: String? { channel.updated.timeText }
    /// A state, as free text of the app.
    public var status: String? { channel.status }
    /// The kind of channel.
    public var type: ChannelType? { ChannelType(channel.type) }

    public var description: String { "ChannelImpl(id: \(id), name: \(name ?? "nil"))" }

    /// The sequences of the channel's events.
    public var stream: ChannelStream { ChannelStream(channel: self) }
}

extension ChannelImpl {
    /// Changes the given fields, keeps the others, and returns the changed channel; see
    /// ``ChatImpl/updateChannel(id:name:custom:description:status:type:completion:)``.
    public func update(
        name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil
    ) async throws -> ChannelImpl {
        try await chat.updateChannel(
            id: id, name: name, custom: custom, description: description, status: status, type: type)
    }

    /// Changes the given fields and keeps the others; see
    /// ``ChatImpl/updateChannel(id:name:custom:description:status:type:completion:)``.
    public func update(
        name: String? = nil, custom: [String: any JSONCodableScalar]? = nil, description: String? = nil,
        status: String? = nil, type: ChannelType? = nil, completion: ChatCompletion<ChannelImpl>? = nil
    ) {
        chat.run(completion) {
            try await self.update(name: name, custom: custom, description: description, status: status, type: type)
        }
    }

    /// Deletes the channel's record and its memberships. The channel's messages stay.
    public func delete() async throws { try await chat.deleteChannel(id: id) }

    /// Deletes the channel's record and its memberships. The channel's messages stay.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Shows the user as typing for ten seconds or until ``stopTyping()``.
    ///
    /// - Returns: nil.
    @discardableResult
    public func startTyping() async throws -> Timetoken? {
        try await chat.call { _ in try await self.channel.startTyping() }
        return nil
    }

    /// Shows the user as typing for ten seconds or until ``stopTyping()``.
    ///
    /// - Parameter completion: receives nil.
    public func startTyping(completion: ChatCompletion<Timetoken?>? = nil) {
        chat.run(completion) { try await self.startTyping() }
    }

    /// Shows the user as no longer typing.
    ///
    /// - Returns: nil.
    @discardableResult
    public func stopTyping() async throws -> Timetoken? {
        try await chat.call { _ in try await self.channel.stopTyping() }
        return nil
    }

    /// Shows the user as no longer typing.
    ///
    /// - Parameter completion: receives nil.
    public func stopTyping(completion: ChatCompletion<Timetoken?>? = nil) {
        chat.run(completion) { try await self.stopTyping() }
    }

    /// Returns the ids of the present users; see ``ChatImpl/whoIsPresent(channelId:limit:offset:completion:)``.
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0) async throws -> [String] {
        try await chat.whoIsPresent(channelId: id, limit: limit, offset: offset)
    }

    /// Reads the ids of the present users; see ``ChatImpl/whoIsPresent(channelId:limit:offset:completion:)``.
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String]>? = nil) {
        chat.run(completion) { try await self.whoIsPresent(limit: limit, offset: offset) }
    }

    /// Returns true when a user is present in the channel.
    public func isPresent(userId: String) async throws -> Bool {
        try await chat.isPresent(userId: userId, channelId: id)
    }

    /// Reads whether a user is present in the channel.
    public func isPresent(userId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isPresent(userId: userId) }
    }
}

// MARK: - Members

extension ChannelImpl {
    /// Joins the channel, or changes the given fields of the membership.
    public func join(
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> MembershipImpl {
        try await chat.call { _ in
            let membership = try await self.channel.join(custom: custom?.values, status: status, type: type)
            return MembershipImpl(membership, channel: self, user: self.chat.currentUser)
        }
    }

    /// Joins the channel, or changes the given fields of the membership.
    ///
    /// - Parameter completion: receives the membership.
    public func join(
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil,
        completion: ChatCompletion<MembershipImpl>? = nil
    ) {
        chat.run(completion) { try await self.join(custom: custom, status: status, type: type) }
    }

    /// Ends the user's membership.
    public func leave() async throws { try await chat.call { _ in try await self.channel.leave() } }

    /// Ends the user's membership.
    public func leave(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.leave() } }

    /// Invites a user, and returns the membership.
    public func invite(user: UserImpl) async throws -> MembershipImpl {
        guard let membership = try await inviteMultiple(users: [user]).first else {
            throw PubNubError(.resourceNotFound, details: ["the invitation of '\(user.id)' has ended already"])
        }
        return membership
    }

    /// Invites a user.
    ///
    /// - Parameter completion: receives the membership.
    public func invite(user: UserImpl, completion: ChatCompletion<MembershipImpl>? = nil) {
        chat.run(completion) { try await self.invite(user: user) }
    }

    /// Invites several users: either all of them or none.
    public func inviteMultiple(users: [UserImpl]) async throws -> [MembershipImpl] {
        try await chat.withBackend { backend in
            let records = try await backend.invite(users.map(\.id), to: self.id)
            return try await self.chat.memberships(records, channel: self)
        }
    }

    /// Invites several users: either all of them or none.
    ///
    /// - Parameter completion: receives the memberships.
    public func inviteMultiple(users: [UserImpl], completion: ChatCompletion<[MembershipImpl]>? = nil) {
        chat.run(completion) { try await self.inviteMultiple(users: users) }
    }

    /// Returns a page of the channel's members, including invited ones.
    ///
    /// - Parameter limit: the maximum number of members, 1 to 250; 100 if nil.
    public func getMembers(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatMembershipsPage {
        try await chat.withBackend { backend in
            let found = try await backend.members(of: self.id, RecordList(filter, sort, limit, page, other: "user"))
            return (try await self.chat.memberships(found.items, channel: self), found.next)
        }
    }

    /// Reads a page of the channel's members, including invited ones.
    public func getMembers(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatMembershipsPage>? = nil
    ) {
        chat.run(completion) { try await self.getMembers(limit: limit, page: page, filter: filter, sort: sort) }
    }

    /// Returns a page of the users who are invited and have not joined.
    public func getInvitees(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> ChatMembershipsPage {
        let invited = "state == 'invited'"
        return try await getMembers(
            limit: limit, page: page, filter: filter.map { "(\($0)) && \(invited)" } ?? invited, sort: sort)
    }

    /// Reads a page of the users who are invited and have not joined.
    public func getInvitees(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [], completion: ChatCompletion<ChatMembershipsPage>? = nil
    ) {
        chat.run(completion) { try await self.getInvitees(limit: limit, page: page, filter: filter, sort: sort) }
    }

    /// Returns a user's membership; nil when the user is no member.
    public func getMember(userId: String) async throws -> MembershipImpl? {
        try await chat.withBackend { backend in
            guard let record = try await backend.member(userId, of: self.id) else { return nil }
            return try await self.chat.memberships([record], channel: self).first
        }
    }

    /// Reads a user's membership; nil when the user is no member.
    public func getMember(userId: String, completion: ChatCompletion<MembershipImpl?>? = nil) {
        chat.run(completion) { try await self.getMember(userId: userId) }
    }

    /// Returns true when a user is a member of the channel.
    public func hasMember(userId: String) async throws -> Bool {
        try await chat.withBackend { try await $0.member(userId, of: self.id) } != nil
    }

    /// Reads whether a user is a member of the channel.
    public func hasMember(userId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.hasMember(userId: userId) }
    }

    /// Returns members whose name begins with a text, among the first 250 such users of the app.
    ///
    /// - Parameters:
    ///   - text: the beginning; a leading `@` is ignored.
    ///   - limit: the maximum number of members.
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
    public func getUserSuggestions(
        text: String, limit: Int = 10, completion: ChatCompletion<[MembershipImpl]>? = nil
    ) {
        chat.run(completion) { try await self.getUserSuggestions(text: text, limit: limit) }
    }

    /// Returns the members of a page with their read marks.
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

    /// Reads the members of a page with their read marks.
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
    /// Bans or mutes a user in the channel, or ends the restriction when both are false. Requires a moderator.
    public func setRestrictions(
        user: UserImpl, ban: Bool = false, mute: Bool = false, reason: String? = nil
    ) async throws {
        try await chat.withBackend { backend in
            try await backend.restrict(user.id, in: self.id, ban: ban, mute: mute, reason: reason, until: nil)
        }
    }

    /// Bans or mutes a user in the channel, or ends the restriction when both are false. Requires a moderator.
    public func setRestrictions(
        user: UserImpl, ban: Bool = false, mute: Bool = false, reason: String? = nil,
        completion: ChatCompletion<Void>? = nil
    ) {
        chat.run(completion) { try await self.setRestrictions(user: user, ban: ban, mute: mute, reason: reason) }
    }

    /// Returns the restriction of a user in the channel; without one, `ban` and `mute` are false.
    public func getUserRestrictions(user: UserImpl) async throws -> Restriction {
        try await chat.withBackend { backend in
            try await backend.restriction(of: user.id, in: self.id).map { Restriction($0) }
                ?? Restriction(userId: user.id, channelId: self.id, ban: false, mute: false, reason: nil)
        }
    }

    /// Reads the restriction of a user in the channel; without one, `ban` and `mute` are false.
    public func getUserRestrictions(user: UserImpl, completion: ChatCompletion<Restriction>?) {
        chat.run(completion) { try await self.getUserRestrictions(user: user) }
    }

    /// Returns a page of all restrictions in the channel.
    public func getUsersRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> (restrictions: [Restriction], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.restrictions(in: self.id, limit: limit ?? 100, cursor: page?.start)
            return (found.items.map { Restriction($0) }, found.next)
        }
    }

    /// Reads a page of all restrictions in the channel.
    public func getUsersRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil,
        completion: ChatCompletion<(restrictions: [Restriction], page: (any PubNubHashedPage)?)>?
    ) {
        chat.run(completion) { try await self.getUsersRestrictions(limit: limit, page: page) }
    }
}
