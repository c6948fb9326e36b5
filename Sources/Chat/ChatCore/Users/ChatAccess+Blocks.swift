public import ChatModel
import JSON

extension ChatAccess {
    /// Blocks a user for another user, who then receives nothing from the blocked one. Repeating it changes nothing.
    ///
    /// - Throws: `.invalid`, slug `own_block`, for the user's own name; `.forbidden` when the caller does not speak for
    ///   the user; `.malformed` for a bad name.
    public func block(
        _ other: String, for user: String, by named: String? = nil
    ) async throws(ChatError) -> Written<BlockRecord> {
        guard ExactText(other) != ExactText(user) else {
            throw ChatError(.invalid, "nobody can block themselves", slug: "own_block")
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
    /// - Returns: true when there was one.
    /// - Throws: `.forbidden` when the caller does not speak for the user; `.malformed` for a bad name.
    @discardableResult
    public func unblock(_ other: String, for user: String, by named: String? = nil) async throws(ChatError) -> Bool {
        try await !setBlock(user, other, by: named) { present, _ in
            (nil, present.map { _ in "user.unblocked" })
        }.isNew
    }

    /// A user's block of another user; nil when there is none.
    ///
    /// - Throws: `.forbidden` without `read`, and, slug `not_self`, for a user's credential of another user;
    ///   `.malformed` for a bad name.
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

    /// The users whom a user has blocked, by their ids.
    ///
    /// - Throws: `.forbidden` without `read`, and, slug `not_self`, for a user's credential of another user;
    ///   `.malformed` for a bad name or query.
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
    /// The actor of a change that concerns only one user and is announced on the user's own channel.
    ///
    /// - Throws: `.forbidden` for another user, slug `not_self`, and when the caller does not reach that channel.
    func owner(of user: String, by named: String?) throws(ChatError) -> Actor {
        try Names.check(user: user)
        let actor = try actor(named)
        try actor.require(self: user)
        if caller.user == nil { try caller.require(channel: user) }
        return actor
    }
}

extension Caller {
    /// Requires access to a user's private objects. Programs of the app and callers without a user have access to those
    /// of all users; a user's credential only to the user's own.
    ///
    /// - Throws: `.forbidden`, slug `not_self`.
    func require(self owner: String) throws(ChatError) {
        guard let user, ExactText(user) != ExactText(owner) else { return }
        throw ChatError(.forbidden, "this credential speaks for user '\(user)' only", slug: "not_self")
    }
}

extension RecordFields {
    /// The fields without private fields of users, so that neither a filter nor an order reveals their values.
    ///
    /// - Parameter prefix: the text before the names of a user record's fields; empty in lists of users.
    public func showing(_ visible: PublicUserFields, prefix: String = "") -> RecordFields {
        func isVisible(_ field: Field) -> Bool {
            guard field.stored.hasPrefix(prefix) else { return true }
            return visible.reveals(String(field.stored.dropFirst(prefix.count)))
        }
        return RecordFields(self, where: isVisible)
    }
}

extension ChatAccess {
    /// The fields of users that the app shows to other users.
    var publicUserFields: PublicUserFields { service.keyring.app(app)?.publicUserFields ?? .standard }

    /// A record as the caller may see it: a user's credential sees all fields of the user's own record, and public
    /// fields of others.
    func seen(_ user: UserRecord) -> UserRecord {
        guard let own = caller.user, ExactText(own) != ExactText(user.id) else { return user }
        return publicUserFields.visible(user)
    }
}

extension ChatAccess {
    /// The users with a record, as the caller may see them. A user's credential filters and sorts by public fields
    /// only.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter`, `bad_sort` or `bad_cursor`, as the other lists do.
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

    /// The records of these users, in their order; nil for a user without one.
    ///
    /// - Throws: `.forbidden` without `read`; the errors of the store.
    public func users(named ids: [String]) async throws(ChatError) -> [UserRecord?] {
        try caller.require(.read)
        let records = try await directory.read(ids.map { UserRecord.key($0, in: app) })
        return records.map { $0.flatMap(UserRecord.init).map(seen) }
    }
}
