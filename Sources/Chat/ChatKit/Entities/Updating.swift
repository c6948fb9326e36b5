public import ChatModel

// Changes that depend on the current state of a record. Each change is sent with the version that was read. If another
// client has changed the record since, the change is repeated with the new version, so that no client's change is lost.

extension Channel {
    /// Changes fields of the channel depending on its current values. Returns the changed channel.
    ///
    /// ```swift
    /// let counted = try await crew.update { now, fields in
    ///     fields.custom = AnyJSON(now.custom.merging(["seen": true]) { $1 })
    /// }
    /// ```
    ///
    /// - Parameter change: receives the current channel and sets the fields to change. Called again when another client
    ///   has changed the channel in the meantime.
    /// - Throws: `.notFound` when the channel has no record; `.stale` when other clients changed it during ten
    ///   attempts; the errors of ``update(name:custom:description:status:coverUrl:customType:)``.
    public func update(
        _ change: @Sendable (_ now: Channel, _ fields: inout ChannelFields) -> Void
    ) async throws(ChatError) -> Channel {
        try await retrying { () throws(ChatError) in
            guard let now = try await chat.getChannel(channelId: id) else {
                throw ChatError(.notFound, "channel '\(id)' has no record")
            }
            var fields = ChannelFields()
            change(now, &fields)
            return Channel(chat: chat, try await chat.backend.update(channel: id, fields, eTag: now.eTag))
        }
    }
}

extension User {
    /// Changes fields of the user depending on their current values; see ``Channel/update(_:)``.
    ///
    /// - Throws: `.notFound` when the user has no record; `.stale` when other clients changed it during ten attempts;
    ///   the errors common to all calls (see ``Chat``).
    public func update(
        _ change: @Sendable (_ now: User, _ fields: inout UserFields) -> Void
    ) async throws(ChatError) -> User {
        try await retrying { () throws(ChatError) in
            guard let now = try await chat.getUser(userId: id) else {
                throw ChatError(.notFound, "user '\(id)' has no record")
            }
            var fields = UserFields()
            change(now, &fields)
            return User(chat: chat, try await chat.backend.update(user: id, fields, eTag: now.eTag))
        }
    }
}

extension Membership {
    /// Changes fields of the membership depending on their current values; see ``Channel/update(_:)``.
    ///
    /// - Throws: `.notFound` when the membership has ended; `.stale` when other clients changed it during ten attempts;
    ///   the errors common to all calls (see ``Chat``).
    public func update(
        _ change: @Sendable (_ now: Membership, _ fields: inout MembershipFields) -> Void
    ) async throws(ChatError) -> Membership {
        try await retrying { () throws(ChatError) in
            guard let now = try await channel.getMembership(userId: userId) else {
                throw ChatError(.notFound, "the user is no longer a member of the channel")
            }
            var fields = MembershipFields()
            change(now, &fields)
            let record = try await chat.backend.update(member: userId, of: channelId, fields, eTag: now.eTag)
            return Membership(chat: chat, record)
        }
    }
}

/// Runs an update, and repeats it while it fails with `.stale` because another client changed the record; at most ten
/// attempts.
private func retrying<Value>(_ work: () async throws(ChatError) -> Value) async throws(ChatError) -> Value {
    var tries = 1
    while true {
        do throws(ChatError) { return try await work() } catch {
            guard error.code == .stale, tries < 10 else { throw error }
            tries += 1
        }
    }
}
