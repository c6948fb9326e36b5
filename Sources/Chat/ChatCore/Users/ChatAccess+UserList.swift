public import ChatModel

extension ChatAccess {
    /// Users with a record.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter`, `bad_sort` or `bad_cursor`; so do the other lists.
    public func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord> {
        try caller.demand(.read)
        let query = try RecordQuery(.user, list, .users, in: space, limits: limits)
        return try await directory.list(query).mapped(UserRecord.init)
    }

    /// The records of these users, in their order; nil for one without.
    public func users(named ids: [String]) async throws(ChatError) -> [UserRecord?] {
        try caller.demand(.read)
        return try await directory.read(ids.map { UserRecord.key($0, in: space) }).map { $0.flatMap(UserRecord.init) }
    }
}
