public import ChatModel

// Changes that depend on the current state. Each one is made against the version that was read. When another client
// changed the record first, the change is repeated on the new version, so that no client's change is lost.

extension Channel {
    /// Changes the channel on the basis of its current state.
    ///
    /// ```swift
    /// let counted = try await crew.update { now, fields in
    ///     fields.custom = AnyJSON(now.custom.merging(["seen": true]) { $1 })
    /// }
    /// ```
    ///
    /// - Parameter change: receives the current channel and sets the fields to change. It is called again when another
    ///   client changed the channel first.
    /// - Throws: `.notFound` when the channel has no record; `.stale` when ten attempts met a change of another client;
    ///   as ``update(name:custom:description:status:coverUrl:customType:)``.
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
    /// Changes the user on the basis of its current state; see ``Channel/update(_:)``.
    ///
    /// - Throws: `.notFound` when the user has no record; `.stale` when ten attempts met a change of another client;
    ///   the errors of every call (``Chat``).
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
    /// Changes the membership on the basis of its current state; see ``Channel/update(_:)``.
    ///
    /// - Throws: `.notFound` when the membership has ended; `.stale` when ten attempts met a change of another client;
    ///   the errors of every call (``Chat``).
    public func update(
        _ change: @Sendable (_ now: Membership, _ fields: inout MembershipFields) -> Void
    ) async throws(ChatError) -> Membership {
        try await retrying { () throws(ChatError) in
            guard let now = try await channel.getMembership(userId: userId) else {
                throw ChatError(.notFound, "the membership has ended")
            }
            var fields = MembershipFields()
            change(now, &fields)
            let record = try await chat.backend.update(member: userId, of: channelId, fields, eTag: now.eTag)
            return Membership(chat: chat, record)
        }
    }
}

/// Repeats an update a few times when another client changed the record first.
private func retrying<Value>(_ work: () async throws(ChatError) -> Value) async throws(ChatError) -> Value {
    var tries = 1
    while true {
        do throws(ChatError) { return try await work() } catch {
            guard error.code == .stale, tries < 10 else { throw error }
            tries += 1
        }
    }
}
