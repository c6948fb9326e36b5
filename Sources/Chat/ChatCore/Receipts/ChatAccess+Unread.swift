public import ChatModel

extension ChatAccess {
    /// What a user has not read: messages of others since the mark, in the channels the user has joined, and that are not
    /// hidden for good.
    ///
    /// - Throws: `.forbidden` where a user's credential asks about somebody else.
    public func unread(of user: String) async throws(ChatError) -> Unread {
        try demandUnread(of: user)
        return try await service.unread.unread(of: UserID(user, in: app))
    }

    /// The same in one channel.
    ///
    /// - Throws: `.notFound`, slug `no_such_member`.
    public func unread(of user: String, in name: String) async throws(ChatError) -> Int {
        try demandUnread(of: user)
        try demandRecord(of: name)
        guard let unread = try await service.unread.unread(of: UserID(user, in: app), in: channel(name)) else {
            throw ChatError(.notFound, "user '\(user)' is no member of channel '\(name)'", slug: "no_such_member")
        }
        return unread
    }

    private func demandUnread(of user: String) throws(ChatError) {
        try caller.demand(.read)
        try Names.check(user: user)
        try caller.demand(self: user)
        if caller.user == nil { try caller.demand(channel: user) }
    }
}

extension ChatService {
    /// Has a user's devices told of every change of what is unread, by `unread_count.updated` on the channel named as the
    /// user: from the first time with `isOn` until it was asked for as often without.
    public func watchUnread(of user: UserID, isOn: Bool) async {
        if isOn { await unread.watch(user) } else { await unread.unwatch(user) }
    }
}
