public import ChatModel

// Calls about read marks, delivery marks and unread counts.

extension Membership {
    /// Moves the user's read mark, which is the newest message that the user has read, to a message. The mark never
    /// moves backwards.
    ///
    /// - Returns: the changed membership.
    /// - Throws: the errors of ``setLastReadMessageTimetoken(_:)``.
    @discardableResult
    public func setLastReadMessage(_ message: Message) async throws(ChatError) -> Membership {
        try await setLastReadMessageTimetoken(message.timetoken)
    }

    /// Moves the user's read mark to the message with a timetoken. The mark never moves backwards. Returns the changed
    /// membership.
    ///
    /// - Throws: `.notFound` when the membership has ended; `.malformed` for a timetoken later than every event; the
    ///   errors common to all calls (see ``Chat``).
    @discardableResult
    public func setLastReadMessageTimetoken(_ timetoken: Timetoken) async throws(ChatError) -> Membership {
        try await chat.backend.mark(.read, of: userId, in: channelId, at: timetoken)
        guard let marked = try await channel.getMembership(userId: userId) else {
            throw ChatError(.notFound, "the user is no longer a member of the channel")
        }
        return marked
    }

    /// Returns the number of messages of other users that the user has not read in the channel.
    ///
    /// - Throws: `.notFound` when the membership has ended; the errors common to all calls (see ``Chat``).
    public func getUnreadMessagesCount() async throws(ChatError) -> Int {
        try await chat.backend.unread(of: userId, in: channelId)
    }
}

extension Channel {
    /// Marks all messages of the channel as read. The user must be a member.
    ///
    /// - Throws: `.notFound` when the user is not a member; the errors common to all calls (see ``Chat``).
    public func markAsRead() async throws(ChatError) {
        try await chat.backend.mark(.read, of: chat.userId, in: id, at: nil)
    }

    /// Moves the user's delivery mark, which is the newest message that a device of the user has received.
    ///
    /// - Parameter timetoken: the timetoken of the newest message received; nil selects the channel's newest message.
    /// - Throws: `.notFound` when the user is not a member; `.malformed` for a timetoken later than every event; the
    ///   errors common to all calls (see ``Chat``).
    public func markAsDelivered(timetoken: Timetoken? = nil) async throws(ChatError) {
        try await chat.backend.mark(.delivered, of: chat.userId, in: id, at: timetoken)
    }
}

extension Chat {
    /// Marks all channels of the user as read.
    ///
    /// - Returns: the names of the channels that had unread messages.
    /// - Throws: the errors common to all calls.
    @discardableResult
    public func markAllMessagesAsRead() async throws(ChatError) -> [String] { try await backend.markAllRead() }

    /// Returns the number of unread messages of the user over all channels, in total and by the custom type of the
    /// channels.
    ///
    /// - Throws: the errors common to all calls.
    public func getTotalUnreadMessageCount() async throws(ChatError) -> UnreadCount { try await backend.unread() }
}
