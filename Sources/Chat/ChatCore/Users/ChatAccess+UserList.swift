public import ChatModel
import JSON

extension ChatAccess {
    /// Users with a record, as the caller may see them. A user's credential filters and sorts by public fields alone.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter`, `bad_sort` or `bad_cursor`; so do the other lists.
    public func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord> {
        try caller.demand(.read)
        var list = list
        var fields = RecordFields.users
        if caller.user != nil {
            let visible = publicUserFields
            list.fields = list.fields?.showing(visible)
            fields = fields.showing(visible)
        }
        let query = try RecordQuery(.user, list, fields, in: app, limits: limits)
        return try await page(query, list, fields, created: \.created, show: { $0.show(to: &$1) }) { records in
            records.map { UserRecord($0).map(seen) }
        }
    }

    /// A page of records; see ``RecordList/page(of:in:members:limits:created:show:_:)``.
    func page<Item: Sendable>(
        _ query: RecordQuery, _ list: RecordList, _ fields: RecordFields? = nil,
        created: @escaping @Sendable (Item) -> Timetoken,
        show: @escaping @Sendable (Item, inout JSONWriter) -> Void = { _, _ in },
        _ read: @escaping @Sendable ([Record]) async throws(ChatError) -> [Item?]
    ) async throws(ChatError) -> Page<Item> {
        try await list.page(
            of: query, in: directory, members: list.fields == nil ? fields?.members : nil, limits: limits,
            created: created, show: show, read)
    }

    /// The records of these users, in their order; nil for one without.
    public func users(named ids: [String]) async throws(ChatError) -> [UserRecord?] {
        try caller.demand(.read)
        let records = try await directory.read(ids.map { UserRecord.key($0, in: app) })
        return records.map { $0.flatMap(UserRecord.init).map(seen) }
    }
}
