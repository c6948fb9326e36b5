public import ChatModel

/// A named group of channels, for ``Chat/subscription(queue:channels:groups:presence:filter:include:since:)``.
public struct ChannelGroup: Sendable, Identifiable {
    public let chat: Chat
    public let id: String

    /// Returns the group's channels in the order in which they were added, without their records. Empty when the group
    /// does not exist.
    ///
    /// - Throws: `.forbidden` when the credential may not read; the errors of every call (``Chat``).
    public func listChannels() async throws(ChatError) -> [Channel] {
        (try await chat.backend.group(id)?.channels ?? []).map { chat.channel($0) }
    }

    /// Adds channels to the group. Creates the group when it does not exist.
    ///
    /// - Throws: `.forbidden` when the credential does not reach the channels or may not change groups; `.invalid` when
    ///   the group would be too large (2000 channels by default); the errors of every call (``Chat``).
    public func addChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: channels.map(\.id), removing: [])
    }

    /// Removes channels from the group. An empty group continues to exist.
    ///
    /// - Throws: `.forbidden` when the credential may not change groups; `.notFound` when the group does not exist; the
    ///   errors of every call (``Chat``).
    public func removeChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: [], removing: channels.map(\.id))
    }
}

extension Chat {
    /// Returns a channel group by its id, without checking that it exists.
    public func channelGroup(_ id: String) -> ChannelGroup { ChannelGroup(chat: self, id: id) }

    /// Returns a page of the groups, ordered by name.
    ///
    /// - Throws: `.forbidden` when the credential may not read; `.malformed` for a bad limit or page; the errors of
    ///   every call (``Chat``).
    public func getChannelGroups(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (groups: [ChannelGroup], page: String?) {
        let found = try await backend.groups(limit: limit, cursor: page)
        return (found.items.map { channelGroup($0) }, found.cursor)
    }

    /// Deletes a group. Its channels stay. Does nothing when the group does not exist.
    ///
    /// - Throws: `.forbidden` when the credential may not change groups; the errors of every call (``Chat``).
    public func removeChannelGroup(id: String) async throws(ChatError) { try await backend.delete(group: id) }
}

extension Channel {
    /// Bans or mutes a user in the channel. The new restriction replaces the current one. When `ban` and `mute` are
    /// both false, the restriction is lifted. Requires a moderator of the channel.
    ///
    /// - Parameters:
    ///   - reason: the moderator's reason, which the user receives.
    ///   - until: the time at which the restriction ends; nil keeps it until it is lifted.
    /// - Throws: `.forbidden` when the chat's user is no moderator; `.malformed` for an end in the past; the errors of
    ///   every call (``Chat``).
    public func setRestrictions(
        user: User, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await chat.backend.restrict(user.id, in: id, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// Returns the restriction of a user in the channel, or nil when there is none.
    ///
    /// - Throws: `.forbidden` with the token of another user who is no moderator; the errors of every call (``Chat``).
    public func getUserRestrictions(user: User) async throws(ChatError) -> Restriction? {
        try await chat.backend.restriction(of: user.id, in: id).map { Restriction($0) }
    }

    /// Returns a page of all restrictions in the channel.
    ///
    /// - Throws: `.forbidden` when the chat's user is no moderator; `.malformed` for a bad limit or page; the errors of
    ///   every call (``Chat``).
    public func getUsersRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(in: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }

    /// Freezes the channel: only its moderators may write.
    ///
    /// - Throws: `.forbidden` when the user is no moderator; `.notFound` when the channel has no record; the errors of
    ///   every call (``Chat``).
    public func freeze() async throws(ChatError) { try await chat.backend.freeze(id, true) }

    /// Unfreezes the channel: every user may write again.
    ///
    /// - Throws: as ``freeze()``.
    public func unfreeze() async throws(ChatError) { try await chat.backend.freeze(id, false) }

    /// Makes a user a moderator of the channel. Requires a moderator of the channel.
    ///
    /// - Throws: `.forbidden` when the chat's user is no moderator; `.notFound` when the channel has no record; the
    ///   errors of every call (``Chat``).
    public func addOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .operator)
    }

    /// Ends a user's moderator role. The user stays a member.
    ///
    /// - Throws: as ``addOperator(_:)``.
    public func removeOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .member)
    }
}

extension User {
    /// Bans or mutes the user in a channel; see ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    ///
    /// - Throws: as ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    public func setRestrictions(
        channel: Channel, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await channel.setRestrictions(user: self, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// Returns the restriction of the user in a channel, or nil when there is none.
    ///
    /// - Throws: as ``Channel/getUserRestrictions(user:)``.
    public func getChannelRestrictions(channel: Channel) async throws(ChatError) -> Restriction? {
        try await channel.getUserRestrictions(user: self)
    }

    /// Returns a page of the user's restrictions in all channels.
    ///
    /// - Throws: `.forbidden` with the token of another user; `.malformed` for a bad limit or page; the errors of every
    ///   call (``Chat``).
    public func getChannelsRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(of: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }
}

extension Restriction {
    fileprivate init(_ record: RestrictionRecord) {
        userId = record.user
        channelId = record.channel
        ban = record.isBanned
        mute = record.isMuted
        reason = record.reason
    }
}

extension Channel {
    /// Sends any JSON as a message.
    ///
    /// - Parameters:
    ///   - meta: metadata of the message that filters can read.
    ///   - customMessageType: a label of 3 to 50 letters, digits, `-` and `_`, which does not begin with `pn_` or `pn-`.
    ///   - shouldStore: true when history stores the message.
    ///   - storeTTL: the number of hours for which it is stored; nil or 0 selects the app's retention.
    ///   - options: the timeout and retries of the request.
    /// - Throws: `.malformed` for another label, and when the message cannot be encoded.
    @discardableResult
    public func publish(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil, customMessageType: String? = nil,
        shouldStore: Bool = true, storeTTL: Int? = nil, options: RequestOptions = RequestOptions()
    ) async throws(ChatError) -> Timetoken {
        if let customMessageType { try Names.check(label: customMessageType) }
        var posting = OutgoingMessage(.message, on: id, data: try message.encoded().text)
        posting.meta = try meta?.encodedObject().text
        posting.customType = customMessageType
        posting.isStored = shouldStore
        posting.hours = shouldStore ? storeTTL : nil
        posting.options = options
        return try await chat.backend.post(posting)
    }

    /// Sends a small event (64 bytes of JSON by default) that is not stored.
    ///
    /// - Parameter customMessageType: a label, as for a message.
    /// - Throws: `.malformed` for another label, and when the message cannot be encoded; `.tooLarge` for a long one;
    ///   `.forbidden` when the user may not write in the channel; the errors of every call (``Chat``).
    @discardableResult
    public func signal(
        _ message: any JSONCodable, customMessageType: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws(ChatError) -> Timetoken {
        if let customMessageType { try Names.check(label: customMessageType) }
        var posting = OutgoingMessage(.signal, on: id, data: try message.encoded().text)
        posting.customType = customMessageType
        posting.options = options
        return try await chat.backend.post(posting)
    }

    /// Sends an event to webhooks only: subscribers do not receive it, and history does not store it.
    ///
    /// - Throws: `.malformed` when the message or `meta` cannot be encoded; `.forbidden` when the user may not write in
    ///   the channel; the errors of every call (``Chat``).
    @discardableResult
    public func fire(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.fire, on: id, data: try message.encoded().text)
        posting.meta = try meta?.encodedObject().text
        posting.options = options
        return try await chat.backend.post(posting)
    }
}
