public import ChatModel

extension ChatAccess {
    /// Makes the user enter an open channel. The user stays inside while one of the user's streams lasts; without a
    /// stream, for the duration of a heartbeat, which this call is.
    ///
    /// - Returns: true when the user was not inside before, and the number of users inside now.
    /// - Throws: `.notFound` for a channel without a record; `.conflict`, slug `not_open`, for one with members;
    ///   `.forbidden` for a banned user.
    public func enter(_ user: String, into name: String) async throws(ChatError) -> (isNew: Bool, count: Int) {
        try requireOwn(user, on: name, for: "participant.entered")
        try await requireOpen(name)
        try await require(.being, of: user, in: name)
        let presenceKey = presenceKey(.participant, user, name)
        let age = limits.presenceAge
        let changes = try await tracker.perform(presenceOrigin) { store throws(ChatError) in
            // Checked again in the queue that also removes banned users: a concurrent ban is ordered before or after
            // this entry.
            try await requireOpen(name)
            try await require(.being, of: user, in: name)
            return try await store.renew([presenceKey], for: age)
        }
        if let change = changes.first { return (true, change.occupancy) }
        return (false, try await tracker.store.counts(of: [presenceKey.presenceScope])[0])
    }

    /// Makes the user leave an open channel, with all devices. Harmless for a user who is not inside.
    ///
    /// - Throws: `.forbidden` when the caller may not report the user's presence there; `.malformed` for a bad name.
    public func exit(_ user: String, from name: String) async throws(ChatError) {
        try requireOwn(user, on: name, for: "participant.exited")
        let presenceKey = presenceKey(.participant, user, name)
        try await tracker.perform(presenceOrigin) { store throws(ChatError) in try await store.leave([presenceKey]) }
    }

    /// The users inside an open channel, after a user, by name.
    /// - Throws: as `enter` for a channel that is not open.
    public func participants(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Occupancy {
        let inside = try await presenceEntries(.participant, name, after: user, order, limit: limit)
        try await requireOpen(name)
        return inside
    }

    /// One user inside an open channel; nil when the user is not inside.
    /// - Throws: as `enter` for a channel that is not open.
    public func participant(_ user: String, of name: String) async throws(ChatError) -> Occupancy.Occupant? {
        try await requireAccess(of: name)
        try await requireOpen(name)
        return try await tracker.store.occupant(presenceKey(.participant, user, name))
    }

    private func requireOpen(_ name: String) async throws(ChatError) {
        guard let kind = try await rules(of: name).kind else {
            throw ChatError(.notFound, "there is no channel '\(name)' with a record; make it as an open one first")
        }
        guard kind == .open else {
            throw ChatError(
                .conflict, "channel '\(name)' has members: it is joined, not entered", slug: "not_open")
        }
    }
}
