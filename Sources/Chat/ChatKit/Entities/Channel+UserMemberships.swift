public import ChatModel

extension Channel {
    /// Says that the user types, for ten seconds or until ``stopTyping()``. Say it with every key: once more tells nobody
    /// anything.
    public func startTyping() async throws(ChatError) { try await chat.backend.setTyping(true, in: id) }

    /// The user types no more.
    public func stopTyping() async throws(ChatError) { try await chat.backend.setTyping(false, in: id) }

    /// Returns a page of the users who type now, by id, and how many there are in all.
    public func getTypingUsers(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.typists(of: id, limit: limit, cursor: page)
        return (found.items, found.total ?? found.items.count, found.cursor)
    }
}

// MARK: - Presence

extension Channel {
    /// A sign of life: the user is present on the channel, until it is too old or ``disappear()``.
    ///
    /// - Parameters:
    ///   - state: what the user shows there from now on; nil leaves it as it is.
    ///   - seconds: how long it counts, 2 to 86400; nil: as long as the gateway says.
    public func appear(state: [String: any JSONCodable]? = nil, for seconds: Int? = nil) async throws(ChatError) {
        try await chat.backend.appear(in: id, for: seconds, state: state?.object)
    }

    /// The user is not there any more, on whatever device.
    public func disappear() async throws(ChatError) { try await chat.backend.disappear(from: id) }

    /// Who is present, by name, a page at a time; and how many there are in all.
    public func whoIsPresent(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.present(in: id, limit: limit, cursor: page)
        return (found.items.map(\.userId), found.total ?? found.items.count, found.cursor)
    }

    public func isPresent(userId: String) async throws(ChatError) -> Bool {
        try await chat.backend.presence(of: userId, in: id) != nil
    }

    /// What the user shows on the channel from now on, in the place of what was there. Nobody shows anything where they
    /// are not present.
    public func setState(_ state: [String: any JSONCodable]) async throws(ChatError) {
        try await chat.backend.show(state.object, in: id)
    }

    /// What a user shows on the channel; nil when the user is not there.
    public func getState(userId: String) async throws(ChatError) -> [String: any JSONCodable]? {
        try await chat.backend.presence(of: userId, in: id)?.state.members
    }
}

extension User {
    /// The channels on which the user is present.
    public func wherePresent() async throws(ChatError) -> [String] { try await chat.backend.presentChannels(of: id) }

    public func isPresentOn(channelId: String) async throws(ChatError) -> Bool {
        try await chat.channel(channelId).isPresent(userId: id)
    }
}

// MARK: - Open channels

extension Channel {
    /// Goes into an open channel. The user stays inside while a delegate or another stream of theirs lasts; without one,
    /// for five minutes from each call.
    ///
    /// - Returns: how many are inside now.
    @discardableResult
    public func enter() async throws(ChatError) -> Int { try await chat.backend.enter(id) }

    /// Goes out of it, with all devices; nothing happens when the user is not inside.
    public func exit() async throws(ChatError) { try await chat.backend.exit(id) }

    /// Who is inside an open channel, by name, a page at a time; and how many there are in all.
    public func getParticipants(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.participants(of: id, limit: limit, cursor: page)
        return (found.items, found.total ?? found.items.count, found.cursor)
    }
}
