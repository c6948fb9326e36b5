public import ChatModel

extension Chat {
    /// The user hears nothing of another one from now on; once more changes nothing.
    public func blockUser(_ user: User) async throws(ChatError) { try await backend.block(user.id) }

    /// Ends that; nothing happens when the user was not blocked.
    public func unblockUser(_ user: User) async throws(ChatError) { try await backend.unblock(user.id) }

    /// Whom the user has blocked, by name, without their records, a page at a time.
    public func getBlockedUsers(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (users: [User], page: String?) {
        let found = try await backend.blocks(limit: limit, cursor: page)
        return (found.items.map { user($0) }, found.cursor)
    }
}
