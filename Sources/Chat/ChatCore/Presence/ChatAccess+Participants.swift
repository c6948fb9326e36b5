public import ChatModel

extension ChatAccess {
    /// Makes the user enter an open channel. The user stays inside while one of the user's streams is open. Without a
    /// stream, this call counts as one heartbeat, and the user stays inside for `Limits.presenceAge`.
    ///
    /// - Returns: true when the user was not inside before, and the number of users who are now inside.
    /// - Throws: `.notFound` for a channel without a record; `.conflict` with the slug `not_open` for a channel that is
    ///   not open; `.forbidden` for a banned user.
    public func enter(_ user: String, into name: String) async throws(ChatError) -> (isNew: Bool, count: Int) {
        try requireOwn(user, on: name, for: "participant.entered")
        try await requireOpen(name)
        try await require(.being, of: user, in: name)
        let presenceKey = presenceKey(.participant, user, name)
        let age = limits.presenceAge
        let changes = try await tracker.perform(presenceOrigin) { store throws(ChatError) in
            // Checked again in the queue of presence changes, which also removes banned users. So a concurrent ban
            // takes effect either before or after this change.
            try await requireOpen(name)
            try await require(.being, of: user, in: name)
            return try await store.renew([presenceKey], for: age)
        }
        if let change = changes.first { return (true, change.occupancy) }
        return (false, try await tracker.store.counts(of: [presenceKey.presenceScope])[0])
    }

    /// Makes the user leave an open channel, on all devices. Does nothing for a user who is not inside.
    ///
    /// - Throws: `.forbidden` when the caller may not report the user's presence in the channel; `.malformed` for a bad
    ///   name.
    public func exit(_ user: String, from name: String) async throws(ChatError) {
        try requireOwn(user, on: name, for: "participant.exited")
        let presenceKey = presenceKey(.participant, user, name)
        try await tracker.perform(presenceOrigin) { store throws(ChatError) in try await store.leave([presenceKey]) }
    }

    /// Returns one page of the users inside an open channel, ordered by id.
    ///
    /// - Parameter user: the last user of the previous page; nil for the first page.
    /// - Throws: `.notFound` or `.conflict` for a channel that is not open, as in ``enter(_:into:)``; the errors of
    ///   ``occupants(of:after:_:limit:)``.
    public func participants(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Occupancy {
        let inside = try await presenceEntries(.participant, name, after: user, order, limit: limit)
        try await requireOpen(name)
        return inside
    }

    /// Returns one user inside an open channel; nil when the user is not inside.
    ///
    /// - Throws: `.notFound` or `.conflict` for a channel that is not open, as in ``enter(_:into:)``; `.forbidden` when
    ///   the caller may not read the channel.
    public func participant(_ user: String, of name: String) async throws(ChatError) -> Occupancy.Occupant? {
        try await requireAccess(of: name)
        try await requireOpen(name)
        return try await tracker.store.occupant(presenceKey(.participant, user, name))
    }

    private func requireOpen(_ name: String) async throws(ChatError) {
        let kind = try await service.confirmingRefusal { () async throws(ChatError) in
            guard let kind = try await rules(of: name).kind else {
                throw ChatError(.notFound, "channel '\(name)' has no record; create it as an open channel first")
            }
            return kind
        }
        guard kind == .open else {
            throw ChatError(
                .conflict, "channel '\(name)' has members and is not open; join it instead", slug: "not_open")
        }
    }
}
