public import ChatModel
public import JSON

extension ChatAccess {
    /// Sends a heartbeat: the user is present on the channel for the duration, or until the user leaves.
    ///
    /// - Parameters:
    ///   - duration: the time for which the user is present, from 2 seconds to one day; nil for `Limits.presenceAge`.
    ///   - state: the user's new state on the channel; nil leaves the state unchanged.
    /// - Returns: true when the user was not present before.
    /// - Throws: `.forbidden` for a banned user, and on a private channel for a user who is not a member; `.malformed`
    ///   for a duration out of range; `.tooLarge` for a state above the size limit.
    public func appear(
        _ user: String, on name: String, for duration: Duration? = nil, state: JSONText? = nil
    ) async throws(ChatError) -> Bool {
        try requireOwn(user, on: name, for: "presence.joined")
        if let duration, !(.seconds(2) ... .seconds(86_400)).contains(duration) {
            throw ChatError(.malformed, "the presence timeout must be 2 seconds to 1 day")
        }
        if let state { try check(state) }
        try await require(.being, of: user, in: name)
        let presenceKey = presenceKey(.occupant, user, name)
        let duration = duration ?? limits.presenceAge
        let changes = try await tracker.perform(presenceOrigin) { store throws(ChatError) in
            // Checked again in the queue of presence changes, which also removes banned users.
            try await require(.being, of: user, in: name)
            var changes = try await store.renew([presenceKey], for: duration)
            if let state { changes += try await store.setState(Self.visible(state), of: presenceKey) }
            return changes
        }
        return changes.contains { $0.happening == .joined }
    }

    /// Makes the user leave the channel, on all devices. Does nothing for a user who is not present.
    ///
    /// - Throws: `.forbidden` when the caller may not report the user's presence on the channel; `.malformed` for a bad
    ///   name.
    public func disappear(_ user: String, from name: String) async throws(ChatError) {
        try requireOwn(user, on: name, for: "presence.left")
        let presenceKey = presenceKey(.occupant, user, name)
        try await tracker.perform(presenceOrigin) { store throws(ChatError) in try await store.leave([presenceKey]) }
    }

    /// Sets the user's state on the channel, which replaces the previous state. An empty object clears the state.
    ///
    /// - Parameter tellsAgain: true to send an event even when the state is unchanged.
    /// - Throws: `.notFound` with the slug `not_present` for a user who is not present.
    public func show(
        _ state: JSONText, as user: String, on name: String, tellsAgain: Bool = false
    ) async throws(ChatError) {
        try requireOwn(user, on: name, for: "presence.state_changed")
        try check(state)
        let presenceKey = presenceKey(.occupant, user, name)
        try await tracker.perform(presenceOrigin) { store throws(ChatError) in
            let shown = Self.visible(state)
            let changes = try await store.setState(shown, of: presenceKey)
            guard tellsAgain, changes.isEmpty else { return changes }
            let count = try await store.counts(of: [presenceKey.presenceScope])[0]
            return [PresenceChange(presenceKey, .stateChanged, occupancy: count, state: shown)]
        }
    }

    /// Returns one page of the users present on the channel, ordered by id.
    ///
    /// - Parameter user: the last user of the previous page; nil for the first page.
    /// - Throws: `.forbidden` when the caller may not read the channel; `.malformed` for a bad name, or a limit that is
    ///   not 0 to `Limits.pageMost`.
    public func occupants(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await presenceEntries(.occupant, name, after: user, order, limit: limit)
    }

    /// Returns one user who is present on the channel; nil when the user is not present.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel; `.malformed` for a bad name.
    public func occupant(_ user: String, of name: String) async throws(ChatError) -> Occupancy.Occupant? {
        try await requireAccess(of: name)
        return try await tracker.store.occupant(presenceKey(.occupant, user, name))
    }

    /// Returns the channels on which a user is present. Channels that the caller may not read are left out.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` for a bad name.
    public func presentChannels(of user: String) async throws(ChatError) -> [String] {
        try caller.require(.read)
        try Names.check(user: user)
        var channels: [String] = []
        for channel in try await tracker.store.channels(of: UserID(user, in: app), as: .occupant)
        where caller.reads(channel: channel.name) {
            if let own = caller.user, try await refusal(to: .receiving, of: own, in: channel.name) != nil {
                continue
            }
            channels.append(channel.name)
        }
        return channels
    }

    /// Removes a banned user from a channel in every form of presence: present, inside and typing. The events of the
    /// removal follow the event of the ban.
    ///
    /// - Parameter moderator: the user who banned; nil for an operator of the app.
    func expel(_ user: String, from name: String, by moderator: String?) async throws(ChatError) {
        let presenceKeys = PresenceKind.allCases.map { presenceKey($0, user, name) }
        var origin = presenceOrigin
        origin.user = moderator
        try await tracker.perform(origin) { store throws(ChatError) in try await store.leave(presenceKeys) }
    }
}

// MARK: - Checks

extension ChatAccess {
    func presenceKey(_ kind: PresenceKind, _ user: String, _ channel: String) -> PresenceKey {
        PresenceKey(kind, of: user, on: self.channel(channel))
    }

    func presenceEntries(
        _ kind: PresenceKind, _ name: String, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await requireAccess(of: name)
        guard (0...limits.pageMost).contains(limit) else {
            throw ChatError(.malformed, "'limit' must be 0 to \(limits.pageMost)")
        }
        return try await tracker.store.occupants(
            of: PresenceScope(kind, channel(name)), after: user, order, limit: limit)
    }

    /// Requires that the caller may report the user's presence: with the user's own credential, or with a credential
    /// that may emit for any user.
    ///
    /// - Parameter type: the type of the event that the report causes.
    func requireOwn(_ user: String, on name: String, for type: String) throws(ChatError) {
        try Names.check(channel: name)
        try caller.require(channel: name)
        try caller.require(type: type)
        _ = try actor(user)
    }

    func check(_ state: JSONText) throws(ChatError) {
        guard state.bytes.first == UInt8(ascii: "{") else {
            throw ChatError(.malformed, "a presence state must be a JSON object", slug: "wrong_type", field: "state")
        }
        guard state.count <= limits.presenceStateBytes else {
            throw .over(
                .tooLarge, "a presence state may have at most \(limits.presenceStateBytes) bytes of JSON",
                name: "limit_bytes",
                limit: limits.presenceStateBytes, field: "state")
        }
    }

    static func visible(_ state: JSONText) -> JSONText? {
        state.rawMembers()?.isEmpty == true ? nil : state
    }
}
