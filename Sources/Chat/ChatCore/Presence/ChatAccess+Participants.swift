public import ChatModel

extension ChatAccess {
    /// The user enters an open channel, and stays while one of their streams lasts; without any, for as long as a sign of
    /// life does (this call is one).
    ///
    /// - Returns: whether the user was not inside before, and how many are inside now.
    /// - Throws: `.notFound` for a channel without a record; `.conflict`, slug `not_open`, for one with members;
    ///   `.forbidden` for who is banned.
    public func enter(_ user: String, into name: String) async throws(ChatError) -> (isNew: Bool, count: Int) {
        try demandOwn(user, on: name, for: "participant.entered")
        try await demandOpen(name)
        try await demand(.being, of: user, in: name)
        let presenceKey = presenceKey(.participant, user, name)
        let age = limits.presenceAge
        let changes = try await tracker.ask(presenceOrigin) { board throws(ChatError) in
            // Once more, in the line in which who is banned is sent out: a ban decided meanwhile comes before or behind this.
            try await demandOpen(name)
            try await demand(.being, of: user, in: name)
            return try await board.renew([presenceKey], for: age)
        }
        if let change = changes.first { return (true, change.occupancy) }
        return (false, try await tracker.board.counts(of: [presenceKey.presenceScope])[0])
    }

    /// The user leaves an open channel, with all devices. Harmless for who is not inside.
    public func exit(_ user: String, from name: String) async throws(ChatError) {
        try demandOwn(user, on: name, for: "participant.exited")
        let presenceKey = presenceKey(.participant, user, name)
        try await tracker.ask(presenceOrigin) { board throws(ChatError) in try await board.leave([presenceKey]) }
    }

    /// Who is inside an open channel after a user, by name.
    /// - Throws: as `enter` for a channel that is none.
    public func participants(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Occupancy {
        let inside = try await seated(.participant, name, after: user, order, limit: limit)
        try await demandOpen(name)
        return inside
    }

    /// One who is inside an open channel; nil when the user is not.
    /// - Throws: as `enter` for a channel that is none.
    public func participant(_ user: String, of name: String) async throws(ChatError) -> Occupancy.Occupant? {
        try await demandHearing(of: name)
        try await demandOpen(name)
        return try await tracker.board.occupant(presenceKey(.participant, user, name))
    }

    private func demandOpen(_ name: String) async throws(ChatError) {
        guard let kind = try await standing(of: name).kind else {
            throw ChatError(.notFound, "there is no channel '\(name)' with a record; make it as an open one first")
        }
        guard kind == .open else {
            throw ChatError(
                .conflict, "channel '\(name)' has members: it is joined, not entered", slug: "not_open")
        }
    }
}
