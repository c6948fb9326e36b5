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

extension ChatAccess {
    /// A selection as a user hears it, on a device if one is named.
    ///
    /// Names among its channels subscribe to these channels as well; patterns pick among those in which the user has a
    /// place. Ask for it before the selection is attached to the hub: it needs to know where the user stands.
    /// - Throws: `.forbidden` when the credential speaks for somebody else, and where a user's own names reports that are
    ///   for operators; what the store throws.
    public func selection(
        _ selection: Selection, heardBy user: String, on device: String?
    ) async throws(ChatError) -> Selection {
        try Names.check(user: user)
        if let device { try Names.check(device: device) }
        try caller.demand(self: user)
        try caller.demand(.read)
        for name in selection.channels.names
        where Self.channel(moderatedOn: name.text) != nil || MappedThread(name.text) != nil {
            try await demand(.audienceSnapshot, of: caller.user, in: name.text)
        }
        let viewer = try await service.hub.viewer(
            of: UserID(user, in: app), on: device, naming: selection.channels.names,
            from: service.engine.directory, service.presence.board, pendingDeletions: service.pendingDeletions,
            now: service.clock.now)
        return selection.heard(by: viewer)
    }
}
