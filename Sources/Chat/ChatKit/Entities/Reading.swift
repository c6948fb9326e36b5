public import ChatModel

// Read marks and unread counts.

extension Membership {
    /// Moves the user's read mark to a message. The mark moves forward only.
    ///
    /// - Returns: the changed membership.
    @discardableResult
    public func setLastReadMessage(_ message: Message) async throws(ChatError) -> Membership {
        try await setLastReadMessageTimetoken(message.timetoken)
    }

    /// Moves the user's read mark to the message with a timetoken; like ``setLastReadMessage(_:)``.
    @discardableResult
    public func setLastReadMessageTimetoken(_ timetoken: Timetoken) async throws(ChatError) -> Membership {
        try await chat.backend.mark(.read, of: userId, in: channelId, at: timetoken)
        guard let marked = try await channel.getMembership(userId: userId) else {
            throw ChatError(.notFound, "the membership has ended")
        }
        return marked
    }

    /// Returns the number of messages of other users that the user has not read in the channel.
    public func getUnreadMessagesCount() async throws(ChatError) -> Int {
        try await chat.backend.unread(of: userId, in: channelId)
    }
}

extension Channel {
    /// Marks the whole channel as read. The user must be a member.
    public func markAsRead() async throws(ChatError) {
        try await chat.backend.mark(.read, of: chat.userId, in: id, at: nil)
    }

    /// Moves the user's delivery mark: messages have reached a device of the user.
    ///
    /// - Parameter timetoken: the newest message that the mark covers; nil selects the channel's newest message.
    public func markAsDelivered(timetoken: Timetoken? = nil) async throws(ChatError) {
        try await chat.backend.mark(.delivered, of: chat.userId, in: id, at: timetoken)
    }
}

extension Chat {
    /// Marks all channels of the user as read.
    ///
    /// - Returns: the channels that had unread messages.
    @discardableResult
    public func markAllMessagesAsRead() async throws(ChatError) -> [String] { try await backend.markAllRead() }

    /// Returns the number of messages that the user has not read in all channels.
    public func getTotalUnreadMessageCount() async throws(ChatError) -> UnreadCount { try await backend.unread() }
}
