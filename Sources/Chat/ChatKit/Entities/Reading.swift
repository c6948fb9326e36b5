public import ChatModel

// What the user has read, and what is left to read.

extension Membership {
    /// Marks what the user has read, up to a message. The mark only goes forward.
    ///
    /// - Returns: the membership as it is then.
    @discardableResult
    public func setLastReadMessage(_ message: Message) async throws(ChatError) -> Membership {
        try await setLastReadMessageTimetoken(message.timetoken)
    }

    /// The same by the message's timetoken.
    @discardableResult
    public func setLastReadMessageTimetoken(_ timetoken: Timetoken) async throws(ChatError) -> Membership {
        try await chat.backend.mark(.read, of: userId, in: channelId, at: timetoken)
        guard let marked = try await channel.getMembership(userId: userId) else {
            throw ChatError(.notFound, "the membership has ended")
        }
        return marked
    }

    /// How many messages of others the user has not read in the channel.
    public func getUnreadMessagesCount() async throws(ChatError) -> Int {
        try await chat.backend.unread(of: userId, in: channelId)
    }
}

extension Channel {
    /// Marks everything in the channel read by the user, who is a member.
    public func markAsRead() async throws(ChatError) {
        try await chat.backend.mark(.read, of: chat.userId, in: id, at: nil)
    }

    /// Says that messages have reached a device of the user.
    ///
    /// - Parameter timetoken: up to which; nil: the newest.
    public func markAsDelivered(timetoken: Timetoken? = nil) async throws(ChatError) {
        try await chat.backend.mark(.delivered, of: chat.userId, in: id, at: timetoken)
    }
}

extension Chat {
    /// Marks everything read in all channels of the user.
    ///
    /// - Returns: the channels in which something was unread.
    @discardableResult
    public func markAllMessagesAsRead() async throws(ChatError) -> [String] { try await backend.markAllRead() }

    /// How many messages the user has not read, in all channels.
    public func getTotalUnreadMessageCount() async throws(ChatError) -> UnreadCount { try await backend.unread() }
}
