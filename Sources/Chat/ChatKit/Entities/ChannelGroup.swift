public import ChatModel

/// A named group of channels that can be subscribed together (see
/// ``Chat/subscription(queue:channels:groups:presence:filter:include:since:)``).
public struct ChannelGroup: Sendable, Identifiable {
    public let chat: Chat
    public let id: String

    /// Returns the group's channels in the order in which they were added, without their records. Empty when the group
    /// does not exist.
    ///
    /// - Throws: `.forbidden` when the credential may not read; the errors common to all calls (see ``Chat``).
    public func listChannels() async throws(ChatError) -> [Channel] {
        (try await chat.backend.group(id)?.channels ?? []).map { chat.channel($0) }
    }

    /// Adds channels to the group. Creates the group when it does not exist.
    ///
    /// - Throws: `.forbidden` when the credential has no access to the channels or may not change groups; `.invalid`
    ///   when the group would be too large (2000 channels by default); the errors common to all calls (see ``Chat``).
    public func addChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: channels.map(\.id), removing: [])
    }

    /// Removes channels from the group. An empty group continues to exist.
    ///
    /// - Throws: `.forbidden` when the credential may not change groups; `.notFound` when the group does not exist; the
    ///   errors common to all calls (see ``Chat``).
    public func removeChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: [], removing: channels.map(\.id))
    }
}

extension Chat {
    /// Returns a channel group by its id, without checking that it exists.
    public func channelGroup(_ id: String) -> ChannelGroup { ChannelGroup(chat: self, id: id) }

    /// Returns a page of the groups, ordered by name.
    ///
    /// - Throws: `.forbidden` when the credential may not read; `.malformed` for an invalid limit or page; the errors
    ///   common to all calls (see ``Chat``).
    public func getChannelGroups(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (groups: [ChannelGroup], page: String?) {
        let found = try await backend.groups(limit: limit, cursor: page)
        return (found.items.map { channelGroup($0) }, found.cursor)
    }

    /// Deletes a group, but not its channels. Does nothing when the group does not exist.
    ///
    /// - Throws: `.forbidden` when the credential may not change groups; the errors common to all calls (see ``Chat``).
    public func removeChannelGroup(id: String) async throws(ChatError) { try await backend.delete(group: id) }
}

extension Channel {
    /// Bans or mutes a user in the channel, and replaces the user's current restriction. When `ban` and `mute` are both
    /// false, the restriction ends. The chat's user must be a moderator of the channel.
    ///
    /// - Parameters:
    ///   - reason: the moderator's reason, which the restricted user receives; nil for none.
    ///   - until: the time at which the restriction ends; nil for no end.
    /// - Throws: `.forbidden` when the chat's user is not a moderator; `.malformed` for an end in the past; the errors
    ///   common to all calls (see ``Chat``).
    public func setRestrictions(
        user: User, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await chat.backend.restrict(user.id, in: id, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// Returns the restriction of a user in the channel, or nil when there is none.
    ///
    /// - Throws: `.forbidden` for another user's restriction, unless the chat's user is a moderator of the channel; the
    ///   errors common to all calls (see ``Chat``).
    public func getUserRestrictions(user: User) async throws(ChatError) -> Restriction? {
        try await chat.backend.restriction(of: user.id, in: id).map { Restriction($0) }
    }

    /// Returns a page of all restrictions in the channel.
    ///
    /// - Throws: `.forbidden` when the chat's user is not a moderator; `.malformed` for an invalid limit or page; the
    ///   errors common to all calls (see ``Chat``).
    public func getUsersRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(in: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }

    /// Freezes the channel, so that only its moderators may write.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator; `.notFound` when the channel has no record; the errors
    ///   common to all calls (see ``Chat``).
    public func freeze() async throws(ChatError) { try await chat.backend.freeze(id, true) }

    /// Unfreezes the channel, so that all its users may write again.
    ///
    /// - Throws: the errors of ``freeze()``.
    public func unfreeze() async throws(ChatError) { try await chat.backend.freeze(id, false) }

    /// Makes a user a moderator of the channel. The chat's user must be a moderator of the channel.
    ///
    /// - Throws: `.forbidden` when the chat's user is not a moderator; `.notFound` when the channel has no record; the
    ///   errors common to all calls (see ``Chat``).
    public func addOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .operator)
    }

    /// Ends a user's moderator role. The user stays a member.
    ///
    /// - Throws: the errors of ``addOperator(_:)``.
    public func removeOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .member)
    }
}

extension User {
    /// Bans or mutes the user in a channel; see ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    ///
    /// - Throws: the errors of ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    public func setRestrictions(
        channel: Channel, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await channel.setRestrictions(user: self, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// Returns the restriction of the user in a channel, or nil when there is none.
    ///
    /// - Throws: the errors of ``Channel/getUserRestrictions(user:)``.
    public func getChannelRestrictions(channel: Channel) async throws(ChatError) -> Restriction? {
        try await channel.getUserRestrictions(user: self)
    }

    /// Returns a page of the user's restrictions in all channels.
    ///
    /// - Throws: `.forbidden` for another user than the chat's user, unless the chat has an API key; `.malformed` for
    ///   an invalid limit or page; the errors common to all calls (see ``Chat``).
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
    ///   - meta: metadata, which filters can read.
    ///   - customMessageType: a label of 3 to 50 letters, digits, `-` and `_`, which does not begin with `pn_` or
    ///     `pn-`; nil for none.
    ///   - shouldStore: true when history stores the message.
    ///   - storeTTL: the number of hours for which history stores the message; nil or 0 selects the app's retention.
    ///   - options: the timeout, retries and compression of the request.
    /// - Throws: `.malformed` for an invalid label, and when the message cannot be encoded.
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
    /// - Parameter customMessageType: a label of 3 to 50 letters, digits, `-` and `_`, which does not begin with `pn_`
    ///   or `pn-`; nil for none.
    /// - Throws: `.malformed` for an invalid label, and when the message cannot be encoded; `.tooLarge` when the
    ///   message is too long; `.forbidden` when the user may not write in the channel; the errors common to all calls
    ///   (see ``Chat``).
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

    /// Sends an event to webhooks only. Subscribers do not receive it, and it is not stored in history.
    ///
    /// - Throws: `.malformed` when the message or `meta` cannot be encoded; `.forbidden` when the user may not write in
    ///   the channel; the errors common to all calls (see ``Chat``).
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
