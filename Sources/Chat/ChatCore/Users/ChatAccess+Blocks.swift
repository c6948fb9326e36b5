public import ChatModel
import JSON

extension ChatAccess {
    /// Blocks the user `other` for `user`, who then receives no messages of `other`. Repeating the call has no further
    /// effect.
    ///
    /// - Throws: `.invalid` with the slug `own_block` when both users are the same; `.forbidden` when the caller does
    ///   not act for `user`; `.malformed` for a bad name.
    public func block(
        _ other: String, for user: String, by named: String? = nil
    ) async throws(ChatError) -> Written<BlockRecord> {
        guard ExactText(other) != ExactText(user) else {
            throw ChatError(.invalid, "users cannot block themselves; name another user", slug: "own_block")
        }
        return try await setBlock(user, other, by: named) { present, now in
            if let present { return (present, nil) }
            var block = BlockRecord(user: user, blocked: other)
            block.since = now
            return (block, "user.blocked")
        }
    }

    /// Removes a block.
    ///
    /// - Returns: true when a block was removed.
    /// - Throws: `.forbidden` when the caller does not act for `user`; `.malformed` for a bad name.
    @discardableResult
    public func unblock(_ other: String, for user: String, by named: String? = nil) async throws(ChatError) -> Bool {
        try await !setBlock(user, other, by: named) { present, _ in
            (nil, present.map { _ in "user.unblocked" })
        }.isNew
    }

    /// Returns a user's block of another user; nil when there is none.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.forbidden` with the slug `not_self` when a user's credential
    ///   requests another user's blocks; `.malformed` for a bad name.
    public func block(of other: String, for user: String) async throws(ChatError) -> BlockRecord? {
        try requireReading(blocksOf: user)
        return try await directory.read(BlockRecord.key(user, other, in: app)).flatMap { BlockRecord($0) }
    }

    private func requireReading(blocksOf user: String) throws(ChatError) {
        try Names.check(user: user)
        try caller.require(.read)
        try caller.require(self: user)
        if caller.user == nil { try caller.require(channel: user) }
    }

    /// Returns one page of the users whom a user has blocked, ordered by id.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.forbidden` with the slug `not_self` when a user's credential
    ///   requests another user's blocks; `.malformed` for a bad name or query.
    public func blocks(
        of user: String, _ list: RecordList
    ) async throws(ChatError) -> Page<BlockRecord> {
        try requireReading(blocksOf: user)
        var query = RecordQuery(.block, in: app, limit: list.limit)
        query.parent = user
        return try await page(query, list, created: \.since) { records in records.map { BlockRecord($0) } }
    }

    private func setBlock(
        _ user: String, _ other: String, by named: String?,
        _ change: @escaping @Sendable (BlockRecord?, Timetoken) -> (BlockRecord?, type: String?)
    ) async throws(ChatError) -> Written<BlockRecord> {
        try Names.check(user: other)
        let actor = try owner(of: user, by: named)
        let key = BlockRecord.key(user, other, in: app)
        let users = [user, other].map { UserRecord.key($0, in: app) }
        return try await decide([key] + users) { snapshot in
            let present = snapshot[key].flatMap(BlockRecord.init)
            let (block, type) = change(present, snapshot.now)
            let written = Written(record: block ?? BlockRecord(user: user, blocked: other), isNew: present == nil)
            guard let type else { return Decision(written) }
            let event = draft(type, on: user, by: actor.user, audience: .rule(.user, subjects: [user])) { writer in
                writer.key("block")
                (block ?? present ?? written.record).show(to: &writer)
                for (name, id, key) in [("user", user, users[0]), ("blocked_user", other, users[1])] {
                    writer.key(text: name)
                    (snapshot[key].flatMap(UserRecord.init) ?? UserRecord(id: id)).printReference(to: &writer)
                }
            }
            let write = RecordChange(key, body: block?.body, parent: user)
            return Decision(written, changes: [write], events: [event])
        }.value
    }
}

extension ChatAccess {
    /// Returns the actor of a change that affects one user and is announced on the user's own channel.
    ///
    /// - Throws: `.forbidden` with the slug `not_self` for another user; `.forbidden` when the caller's patterns do not
    ///   cover the user's own channel.
    func owner(of user: String, by named: String?) throws(ChatError) -> Actor {
        try Names.check(user: user)
        let actor = try actor(named)
        try actor.require(self: user)
        if caller.user == nil { try caller.require(channel: user) }
        return actor
    }
}

extension Caller {
    /// Requires access to a user's private data. A user's credential has access to the user's own data only. Any other
    /// credential has access to the data of all users.
    ///
    /// - Throws: `.forbidden` with the slug `not_self`.
    func require(self owner: String) throws(ChatError) {
        guard let user, ExactText(user) != ExactText(owner) else { return }
        throw ChatError(.forbidden, "this credential may act for user '\(user)' only", slug: "not_self")
    }
}

extension RecordFields {
    /// Returns the fields without users' private fields, so that neither a filter nor a sort order reveals their
    /// values.
    ///
    /// - Parameter prefix: the prefix of the names of user fields in this list; empty for a list of users.
    public func showing(_ visible: PublicUserFields, prefix: String = "") -> RecordFields {
        func isVisible(_ field: Field) -> Bool {
            guard field.stored.hasPrefix(prefix) else { return true }
            return visible.reveals(String(field.stored.dropFirst(prefix.count)))
        }
        return RecordFields(self, where: isVisible)
    }
}

extension ChatAccess {
    /// The fields of a user record that the app shows to other users.
    var publicUserFields: PublicUserFields { service.keyring.app(app)?.publicUserFields ?? .standard }

    /// Returns a user record with the fields that the caller may see. A user's credential sees all fields of the user's
    /// own record, and only public fields of other records.
    func seen(_ user: UserRecord) -> UserRecord {
        guard let own = caller.user, ExactText(own) != ExactText(user.id) else { return user }
        return publicUserFields.visible(user)
    }
}

extension ChatAccess {
    /// Returns one page of the users with a record, with the fields that the caller may see. A user's credential can
    /// filter and sort only by public fields.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` with the slug `bad_filter`, `bad_sort` or
    ///   `bad_cursor`.
    public func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord> {
        try caller.require(.read)
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

    /// Returns one page of records; see `RecordList.page`.
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

    /// Returns the records of the users `ids`, in the order of `ids`; nil for a user without a record.
    ///
    /// - Throws: `.forbidden` without the scope `read`; the errors of the store.
    public func users(named ids: [String]) async throws(ChatError) -> [UserRecord?] {
        try caller.require(.read)
        let records = try await directory.read(ids.map { UserRecord.key($0, in: app) })
        return records.map { $0.flatMap(UserRecord.init).map(seen) }
    }
}
