public import ChatModel

extension ChatAccess {
    /// Checks that a user's credential may follow the channels that the selection names. A user may not follow a
    /// channel from which the user is banned, or a members-only channel without being a member.
    ///
    /// - Throws: `.forbidden` with the slug `banned`, `not_a_member` or `not_operator`.
    public nonisolated(nonsending) func requireAccess(_ selection: Selection) async throws(ChatError) {
        guard let user = caller.user else { return }
        for name in selection.channels.names.sorted() { try await require(.receiving, of: user, in: name.text) }
    }

    /// Returns the channels of `names` that a user's credential may not follow by name; empty for a credential without
    /// a user.
    ///
    /// - Parameter isOfDevice: true for the stream of a user's device. Such a stream may name a members-only channel,
    ///   and receives its events only while the user is a member.
    /// - Throws: the errors of the store.
    public func inaccessible(
        of names: Set<ExactText>, isOfDevice: Bool = false
    ) async throws(ChatError) -> Set<ExactText> {
        guard let user = caller.user else { return [] }
        let names = isOfDevice ? names.filter { Self.channel(moderatedOn: $0.text) != nil } : names
        let inaccessible = try await refused(names, to: user)
        guard service.isShared, !inaccessible.isEmpty else { return inaccessible }
        try await service.catchUp()
        return try await refused(inaccessible, to: user)
    }

    private func refused(_ names: Set<ExactText>, to user: String) async throws(ChatError) -> Set<ExactText> {
        var refused: Set<ExactText> = []
        for name in names where try await refusal(to: .receiving, of: user, in: name.text) != nil {
            refused.insert(name)
        }
        return refused
    }

    /// Checks that the caller has the scope `read`, that the caller's patterns cover the channel, and that the caller's
    /// user, if any, may read the channel's events.
    ///
    /// - Throws: `.malformed` for a bad name; `.forbidden` without the right to read the channel.
    func requireAccess(of name: String) async throws(ChatError) {
        try Names.check(channel: name)
        try caller.require(.read)
        try caller.require(reading: name)
        try await require(.receiving, of: caller.user, in: name)
    }
}

extension ChatAccess {
    /// Returns a copy of a selection for the stream of a user. The stream receives only events that are for this user
    /// and this device. `device` is nil when the client sent no device id.
    ///
    /// A channel name in the selection also subscribes to the channel. A pattern only selects among the channels to
    /// which the user has a relation. Call this before you attach the selection to the hub, because it loads the user's
    /// relations to channels.
    ///
    /// - Throws: `.forbidden` when the credential belongs to another user, or when the selection names a channel of
    ///   message reports, or a PubNub channel of a thread, whose events the credential's user may not receive;
    ///   `.malformed` for an invalid user name or device id; the errors of the store.
    public nonisolated(nonsending) func selection(
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
