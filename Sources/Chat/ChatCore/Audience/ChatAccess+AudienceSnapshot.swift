public import ChatModel

extension ChatAccess {
    /// A credential of a user's own follows no channel by its name from which that user is banned, or that is for its
    /// members when the user is none.
    ///
    /// - Throws: `.forbidden` with the slug `banned`, `not_a_member` or `not_operator`.
    public func demandHearing(_ selection: Selection) async throws(ChatError) {
        guard let user = caller.user else { return }
        for name in selection.channels.names.sorted() { try await demand(.audienceSnapshot, of: user, in: name.text) }
    }

    /// Those channels that a credential of a user's own may not follow by their names.
    ///
    /// - Parameter isOfDevice: whether the user listens by it. Such a stream may name a channel that is for its members, and
    ///   hears it while the user is one.
    public func unheard(
        of names: Set<ExactText>, isOfDevice: Bool = false
    ) async throws(ChatError) -> Set<ExactText> {
        guard let user = caller.user else { return [] }
        var unheard: Set<ExactText> = []
        for name in names where !isOfDevice || Self.channel(moderatedOn: name.text) != nil {
            if try await obstacle(to: .audienceSnapshot, of: user, in: name.text) != nil { unheard.insert(name) }
        }
        return unheard
    }

    /// The same of one channel that is to be read.
    func demandHearing(of name: String) async throws(ChatError) {
        try Names.check(channel: name)
        try caller.demand(.read)
        try caller.demand(reading: name)
        try await demand(.audienceSnapshot, of: caller.user, in: name)
    }
}
