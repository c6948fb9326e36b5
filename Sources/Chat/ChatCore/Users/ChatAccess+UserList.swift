public import ChatModel

extension ChatAccess {
    /// Users with a record, as the caller may see them. A user's credential filters and sorts by public fields alone.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter`, `bad_sort` or `bad_cursor`; so do the other lists.
    public func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord> {
        try caller.demand(.read)
        var list = list
        if caller.user != nil { list.fields = (list.fields ?? .users).showing(publicUserFields) }
        let query = try RecordQuery(.user, list, .users, in: space, limits: limits)
        return try await directory.list(query).mapped { UserRecord($0).map(seen) }
    }

    /// The records of these users, in their order; nil for one without.
    public func users(named ids: [String]) async throws(ChatError) -> [UserRecord?] {
        try caller.demand(.read)
        let records = try await directory.read(ids.map { UserRecord.key($0, in: space) })
        return records.map { $0.flatMap(UserRecord.init).map(seen) }
    }
}
