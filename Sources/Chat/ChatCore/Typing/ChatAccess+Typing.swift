public import ChatModel
public import JSON

extension ChatAccess {
    /// Marks a user as typing in a channel, until ``stopTyping(_:on:showing:)`` or for `Limits.typingAge` (ten seconds
    /// by default). If the user is already typing, only subscribers of the PubNub-compatible API receive an event,
    /// because their SDKs forget typing users sooner.
    ///
    /// - Parameter wire: the JSON of the event for the PubNub-compatible API; nil for the standard form.
    /// - Throws: `.forbidden` for a user who may not write in the channel.
    public func startTyping(_ user: String, on name: String, showing wire: JSONText? = nil) async throws(ChatError) {
        try requireOwn(user, on: name, for: "typing.started")
        try await require(.writing, of: user, in: name)
        let presenceKey = presenceKey(.typingUser, user, name)
        let age = limits.typingAge
        try await tracker.perform(typingOrigin(wire)) { store throws(ChatError) in
            // Checked again in the queue of presence changes, which also removes banned users.
            try await require(.writing, of: user, in: name)
            let changes = try await store.renew([presenceKey], for: age)
            return changes.isEmpty ? [PresenceChange(presenceKey, .renewed, occupancy: 0)] : changes
        }
    }

    /// Marks a user as no longer typing. Does nothing for a user who is not typing.
    ///
    /// - Parameter wire: see ``startTyping(_:on:showing:)``.
    /// - Throws: `.forbidden` when the caller may not report the user's typing in the channel; `.malformed` for a bad
    ///   name.
    public func stopTyping(_ user: String, on name: String, showing wire: JSONText? = nil) async throws(ChatError) {
        try requireOwn(user, on: name, for: "typing.stopped")
        let presenceKey = presenceKey(.typingUser, user, name)
        try await tracker.perform(typingOrigin(wire)) { store throws(ChatError) in try await store.leave([presenceKey])
        }
    }

    /// Returns one page of the users who are typing in a channel, ordered by id.
    ///
    /// - Parameters:
    ///   - user: the last user of the previous page; nil for the first page.
    ///   - limit: the maximum number of users: 0 to `Limits.pageMost`.
    /// - Returns: the users with the fields that events contain. A user without a record has only the id.
    /// - Throws: the errors of ``occupants(of:after:_:limit:)``.
    public func typists(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Page<UserRecord> {
        let entries = try await presenceEntries(.typingUser, name, after: user, order, limit: limit)
        let ids = entries.occupants.map(\.user)
        let records = try await service.engine.directory.read(ids.map { UserRecord.key($0, in: app) })
        let users = zip(ids, records).map { id, record in record.flatMap { UserRecord($0) } ?? UserRecord(id: id) }
        let end = entries.hasMore ? ids.last : nil
        return Page(items: users, hasMore: end != nil, cursor: end, total: entries.count)
    }

    private func typingOrigin(_ wire: JSONText?) -> PresenceOrigin {
        var origin = presenceOrigin
        origin.wire = wire
        return origin
    }
}
