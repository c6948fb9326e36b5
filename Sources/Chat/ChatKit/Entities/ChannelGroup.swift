public import ChatModel

/// Channels under one name, to be followed together by ``Chat/subscription(channels:groups:presence:filter:since:)``.
public struct ChannelGroup: Sendable, Identifiable {
    public let chat: Chat
    public let id: String

    /// Its channels in the order they were added, without their records; none when there is no such group.
    public func listChannels() async throws(ChatError) -> [Channel] {
        (try await chat.backend.group(id)?.channels ?? []).map { chat.channel($0) }
    }

    /// Takes channels in. The group is made by it where there is none.
    public func addChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: channels.map(\.id), removing: [])
    }

    /// Takes channels out. The group stays when it is empty.
    public func removeChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: [], removing: channels.map(\.id))
    }
}

extension Chat {
    /// A channel group by its id, without asking whether there is one.
    public func channelGroup(_ id: String) -> ChannelGroup { ChannelGroup(chat: self, id: id) }

    /// The groups there are, by their names, a page at a time.
    public func getChannelGroups(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (groups: [ChannelGroup], page: String?) {
        let found = try await backend.groups(limit: limit, cursor: page)
        return (found.items.map { channelGroup($0) }, found.cursor)
    }

    /// Deletes a group; nothing happens when there is none. Its channels stay.
    public func removeChannelGroup(id: String) async throws(ChatError) { try await backend.delete(group: id) }
}

extension Channel {
    /// Bans or mutes a user in the channel, in the place of what was upon the user before; neither of them lifts it. For
    /// those who moderate the channel.
    ///
    /// - Parameters:
    ///   - reason: in the moderator's words; the user hears them.
    ///   - until: when it ends by itself; nil: when it is lifted.
    public func setRestrictions(
        user: User, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await chat.backend.restrict(user.id, in: id, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// What is upon a user in the channel; nil when nothing is.
    public func getUserRestrictions(user: User) async throws(ChatError) -> Restriction? {
        try await chat.backend.restriction(of: user.id, in: id).map { Restriction($0) }
    }

    /// Everybody upon whom something is in the channel, a page at a time.
    public func getUsersRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(in: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }

    /// Lets only those who moderate the channel write.
    public func freeze() async throws(ChatError) { try await chat.backend.freeze(id, true) }

    /// Lets everybody write again.
    public func unfreeze() async throws(ChatError) { try await chat.backend.freeze(id, false) }

    /// Has a user moderate the channel; for those who do already.
    public func addOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .operator)
    }

    /// Ends that. The user stays a member.
    public func removeOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .member)
    }
}

extension User {
    /// Bans or mutes the user in a channel; see ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    public func setRestrictions(
        channel: Channel, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await channel.setRestrictions(user: self, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// What is upon the user in a channel; nil when nothing is.
    public func getChannelRestrictions(channel: Channel) async throws(ChatError) -> Restriction? {
        try await channel.getUserRestrictions(user: self)
    }

    /// What is upon the user in all channels, a page at a time.
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
    ///   - meta: facts about the message that filters can read.
    ///   - customMessageType: a label, 1 to 64 bytes.
    ///   - shouldStore: whether history keeps it.
    ///   - storeTTL: how many hours history keeps it; nil: as long as the app keeps events.
    @discardableResult
    public func publish(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil, customMessageType: String? = nil,
        shouldStore: Bool = true, storeTTL: Int? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.message, on: id, data: message.json.text)
        posting.meta = meta?.object.text
        posting.customType = customMessageType
        posting.isStored = shouldStore
        posting.hours = shouldStore ? storeTTL : nil
        return try await chat.backend.post(posting)
    }

    /// Sends something small (64 bytes of JSON by default) that nobody keeps.
    @discardableResult
    public func signal(
        _ message: any JSONCodable, customMessageType: String? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.signal, on: id, data: message.json.text)
        posting.customType = customMessageType
        return try await chat.backend.post(posting)
    }

    /// Tells webhooks alone: no subscriber hears it and history does not keep it.
    @discardableResult
    public func fire(
        _ message: any JSONCodable, meta: [String: any JSONCodable]? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(.fire, on: id, data: message.json.text)
        posting.meta = meta?.object.text
        return try await chat.backend.post(posting)
    }
}
