public import ChatModel

extension ChatAccess {
    /// What a user has not read: messages of others since the mark, in the channels the user has joined, and that are not
    /// hidden for good.
    ///
    /// - Throws: `.forbidden` where a user's credential asks about somebody else.
    public func unread(of user: String) async throws(ChatError) -> Unread {
        try demandUnread(of: user)
        return try await service.unread.unread(of: UserID(user, in: space))
    }

    /// The same in one channel.
    ///
    /// - Throws: `.notFound`, slug `no_such_member`.
    public func unread(of user: String, in name: String) async throws(ChatError) -> Int {
        try demandUnread(of: user)
        try demandRecord(of: name)
        guard let unread = try await service.unread.unread(of: UserID(user, in: space), in: channel(name)) else {
            throw ChatError(.notFound, "user '\(user)' is no member of channel '\(name)'", slug: "no_such_member")
        }
        return unread
    }

    /// Has a user's devices told of every change of what is unread, by `unread_count.updated` on the channel named as the
    /// user, until the same number of `unwatchUnread`.
    public func watchUnread(of user: String) async { await service.unread.watch(UserID(user, in: space)) }

    public func unwatchUnread(of user: String) async { await service.unread.unwatch(UserID(user, in: space)) }

    private func demandUnread(of user: String) throws(ChatError) {
        try caller.demand(.read)
        try Names.check(user: user)
        if let own = caller.user, ExactText(own) != ExactText(user) { throw .speaksForAnother(own) }
    }
}
