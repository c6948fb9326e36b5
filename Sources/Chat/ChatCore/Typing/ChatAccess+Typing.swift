public import ChatModel
public import JSON

extension ChatAccess {
    /// Marks the user as typing until ``stopTyping(_:on:showing:)`` or for ten seconds (`Limits.typingAge`). A renewal
    /// is an event only for subscribers of PubNub's wire, whose SDKs forget typing users sooner.
    ///
    /// - Parameter wire: the event's form on that wire; nil for the standard form.
    /// - Throws: `.forbidden` for a user who may not write on the channel.
    public func startTyping(_ user: String, on name: String, showing wire: JSONText? = nil) async throws(ChatError) {
        try requireOwn(user, on: name, for: "typing.started")
        try await require(.writing, of: user, in: name)
        let presenceKey = presenceKey(.typingUser, user, name)
        let age = limits.typingAge
        try await tracker.perform(typingOrigin(wire)) { store throws(ChatError) in
            // Checked again in the queue that also removes banned users.
            try await require(.writing, of: user, in: name)
            let changes = try await store.renew([presenceKey], for: age)
            return changes.isEmpty ? [PresenceChange(presenceKey, .renewed, occupancy: 0)] : changes
        }
    }

    /// Marks the user as no longer typing. Harmless for a user who is not typing.
    ///
    /// - Parameter wire: as in ``startTyping(_:on:showing:)``.
    /// - Throws: `.forbidden` when the caller may not report that the user types there; `.malformed` for a bad name.
    public func stopTyping(_ user: String, on name: String, showing wire: JSONText? = nil) async throws(ChatError) {
        try requireOwn(user, on: name, for: "typing.stopped")
        let presenceKey = presenceKey(.typingUser, user, name)
        try await tracker.perform(typingOrigin(wire)) { store throws(ChatError) in try await store.leave([presenceKey])
        }
    }

    /// The users who are typing on the channel, after a user, by id.
    ///
    /// - Parameter limit: 0 to `Limits.pageMost`.
    /// - Returns: the users with the fields that events show; a user without a record has only the id.
    /// - Throws: as `occupants(of:after:limit:)`.
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
