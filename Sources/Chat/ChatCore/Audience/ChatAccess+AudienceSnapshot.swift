public import ChatModel

extension ChatAccess {
    /// Checks that a user's credential may follow the channels that the selection names. It may not follow a channel
    /// that the user is banned from, or a members-only channel of which the user is not a member.
    ///
    /// - Throws: `.forbidden` with the slug `banned`, `not_a_member` or `not_operator`.
    public func requireAccess(_ selection: Selection) async throws(ChatError) {
        guard let user = caller.user else { return }
        for name in selection.channels.names.sorted() { try await require(.receiving, of: user, in: name.text) }
    }

    /// Returns those of the channels that a user's credential may not follow by name. Empty for a credential of no
    /// user.
    ///
    /// - Parameter isOfDevice: true when the user listens on a device. Such a stream may name a members-only channel,
    ///   and receives its events while the user is a member.
    /// - Throws: the errors of the store.
    public func inaccessible(
        of names: Set<ExactText>, isOfDevice: Bool = false
    ) async throws(ChatError) -> Set<ExactText> {
        guard let user = caller.user else { return [] }
        var unheard: Set<ExactText> = []
        for name in names where !isOfDevice || Self.channel(moderatedOn: name.text) != nil {
            if try await refusal(to: .receiving, of: user, in: name.text) != nil { unheard.insert(name) }
        }
        return unheard
    }

    /// Checks the same for one channel that is to be read, and checks the caller's scope and patterns.
    ///
    /// - Throws: `.malformed` for a bad name; `.forbidden`.
    func requireAccess(of name: String) async throws(ChatError) {
        try Names.check(channel: name)
        try caller.require(.read)
        try caller.require(reading: name)
        try await require(.receiving, of: caller.user, in: name)
    }
}

extension ChatAccess {
    /// Returns a selection that a user listens to, on a device if one is given.
    ///
    /// Names among its channels also subscribe to these channels; patterns select among the channels in which the user
    /// has a position. Call it before the selection is attached to the hub, because it reads the user's positions.
    ///
    /// - Throws: `.forbidden` when the credential speaks for another user, and when a user's credential names a channel
    ///   of reports that are for operators; the errors of the store.
    public func selection(
        _ selection: Selection, heardBy user: String, on device: String?
    ) async throws(ChatError) -> Selection {
        try Names.check(user: user)
        if let device { try Names.check(device: device) }
        try caller.require(self: user)
        try caller.require(.read)
        for name in selection.channels.names
        where Self.channel(moderatedOn: name.text) != nil || MappedThread(name.text) != nil {
            try await require(.receiving, of: caller.user, in: name.text)
        }
        let viewer = try await service.hub.viewer(
            of: UserID(user, in: app), on: device, naming: selection.channels.names,
            from: service.engine.directory, service.presence.store, pendingDeletions: service.pendingDeletions,
            now: service.clock.now)
        return selection.heard(by: viewer)
    }
}
