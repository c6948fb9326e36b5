public import ChatModel

extension ChatAccess {
    /// A credential of a user's own follows no channel by its name from which that user is banned, or that is for its
    /// members when the user is none.
    ///
    /// - Throws: `.forbidden` with the slug `banned` or `not_a_member`.
    public func demandHearing(_ selection: Selection) async throws(ChatError) {
        guard let user = caller.user else { return }
        for name in selection.channels.names.sorted() {
            guard try await !mayHear(user, in: name.text) else { continue }
            let restriction = try await standing(of: user, in: name.text).restriction(at: service.clock.now)
            if let restriction, restriction.isBanned { throw ChatError(restriction) }
            throw ChatError(
                .forbidden, "channel '\(name)' is for its members: user '\(user)' has to join it first",
                slug: "not_a_member")
        }
    }
}
