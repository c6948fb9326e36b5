public import ChatModel

extension Channel {
    /// Shows the user as typing for ten seconds or until ``stopTyping()``. Call it at every keystroke; while the user
    /// counts as typing, further calls send no event.
    ///
    /// - Throws: `.forbidden` when the user may not write in the channel; the errors common to all calls (see
    ///   ``Chat``).
    public func startTyping() async throws(ChatError) { try await chat.backend.setTyping(true, in: id) }

    /// Shows the user as no longer typing.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``).
    public func stopTyping() async throws(ChatError) { try await chat.backend.setTyping(false, in: id) }

    /// Returns a page of the ids of the users who are typing. `count` is the number of all typing users.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; `.malformed` for an invalid limit or page; the
    ///   errors common to all calls (see ``Chat``).
    public func getTypingUsers(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.typists(of: id, limit: limit, cursor: page)
        return (found.items, found.total ?? found.items.count, found.cursor)
    }
}

// MARK: - Presence

extension Channel {
    /// Marks the user as present in the channel for a number of seconds or until ``disappear()``.
    ///
    /// - Parameters:
    ///   - state: the user's new state in the channel; nil leaves the state unchanged.
    ///   - seconds: the number of seconds until the presence ends, from 2 to 86400; nil selects the gateway's default.
    /// - Throws: `.forbidden` when the user may not read the channel; `.malformed` when `seconds` is out of range;
    ///   `.tooLarge` when the state is too long; the errors common to all calls (see ``Chat``).
    public func appear(state: [String: any JSONCodable]? = nil, for seconds: Int? = nil) async throws(ChatError) {
        try await chat.backend.appear(in: id, for: seconds, state: try state?.encodedObject())
    }

    /// Ends the user's presence in the channel on every device.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``).
    public func disappear() async throws(ChatError) { try await chat.backend.disappear(from: id) }

    /// Returns a page of the ids of the present users, in ascending order. `count` is the number of all present users.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; `.malformed` for an invalid limit or page; the
    ///   errors common to all calls (see ``Chat``).
    public func whoIsPresent(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.present(in: id, limit: limit, cursor: page)
        return (found.items.map(\.userId), found.total ?? found.items.count, found.cursor)
    }

    /// Returns true when a user is present in the channel.
    ///
    /// - Throws: `.forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``Chat``).
    public func isPresent(userId: String) async throws(ChatError) -> Bool {
        try await chat.backend.presence(of: userId, in: id) != nil
    }

    /// Replaces the user's state in the channel. The user must be present.
    ///
    /// - Throws: `.notFound` when the user is not present; `.tooLarge` when the state is too long; the errors common to
    ///   all calls (see ``Chat``).
    public func setState(_ state: [String: any JSONCodable]) async throws(ChatError) {
        try await chat.backend.show(try state.encodedObject(), in: id)
    }

    /// Returns a user's state in the channel, or nil when the user is not present.
    ///
    /// - Throws: `.forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``Chat``).
    public func getState(userId: String) async throws(ChatError) -> [String: any JSONCodable]? {
        try await chat.backend.presence(of: userId, in: id)?.state.members
    }
}

extension User {
    /// Returns the channels in which the user is present.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``).
    public func wherePresent() async throws(ChatError) -> [String] { try await chat.backend.presentChannels(of: id) }

    /// Returns true when the user is present in a channel.
    ///
    /// - Throws: `.forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``Chat``).
    public func isPresentOn(channelId: String) async throws(ChatError) -> Bool {
        try await chat.channel(channelId).isPresent(userId: id)
    }
}

// MARK: - Open channels

extension Channel {
    /// Enters an open channel. The user stays in the channel while a delegate or another stream of the user's devices
    /// is connected. Without such a connection, the user stays for five minutes after each call.
    ///
    /// - Returns: the number of users who are now in the channel.
    /// - Throws: `.notFound` when the channel has no record; `.conflict` when it is not an open channel; `.forbidden`
    ///   when the user is banned; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func enter() async throws(ChatError) -> Int { try await chat.backend.enter(id) }

    /// Leaves the open channel on all devices. Does nothing when the user is not in the channel.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``).
    public func exit() async throws(ChatError) { try await chat.backend.exit(id) }

    /// Returns a page of the ids of the users in an open channel, in ascending order. `count` is the number of all
    /// users in the channel.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.conflict` when it is not an open channel; `.malformed`
    ///   for an invalid limit or page; the errors common to all calls (see ``Chat``).
    public func getParticipants(
        limit: Int = 250, page: String? = nil
    ) async throws(ChatError) -> (userIds: [String], count: Int, page: String?) {
        let found = try await chat.backend.participants(of: id, limit: limit, cursor: page)
        return (found.items, found.total ?? found.items.count, found.cursor)
    }
}
