public import ChatModel

extension ChatAccess {
    /// A credential of a user's own follows no channel by its name from which that user is banned, or that is for its
    /// members when the user is none.
    ///
    /// - Parameter channel: read afresh. Its change may have been handed out before the verb that made it has returned, and
    ///   until then what is remembered of the channel is what it was.
    /// - Throws: `.forbidden` with the slug `banned`, `not_a_member` or `not_operator`.
    public func demandHearing(_ selection: Selection, changed channel: ChannelID? = nil) async throws(ChatError) {
        guard let user = caller.user else { return }
        if let channel { service.standings.forget([ChannelRecord.key(channel.name, in: channel.space)]) }
        for name in selection.channels.names.sorted() { try await demand(.hearing, of: user, in: name.text) }
    }

    /// The same of one channel that is to be read.
    func demandHearing(of name: String) async throws(ChatError) {
        try Names.check(channel: name)
        try caller.demand(.read)
        try caller.demand(channel: name)
        try await demand(.hearing, of: caller.user, in: name)
    }
}
