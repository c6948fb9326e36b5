public import ChatModel

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
            from: service.engine.directory, service.presence.board, pendingDeletions: service.pendingDeletions, now: service.clock.now)
        return selection.heard(by: viewer)
    }
}
