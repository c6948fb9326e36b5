public import ChatModel
public import JSON

extension ChatAccess {
    /// A sign of life: the user is present on the channel for so long from now, or until they leave.
    ///
    /// - Parameters:
    ///   - duration: nil for what the gateway's limit says; 2 s to a day.
    ///   - state: what the user shows there from now on; nil leaves it as it is.
    /// - Returns: whether the user was not there before.
    /// - Throws: `.forbidden` for who is banned, and on a private channel for who is no member; `.tooLarge` for a state.
    public func appear(
        _ user: String, on name: String, for duration: Duration? = nil, state: JSONText? = nil
    ) async throws(ChatError) -> Bool {
        try demandOwn(user, on: name, for: "presence.joined")
        if let duration, !(.seconds(2) ... .seconds(86_400)).contains(duration) {
            throw ChatError(.malformed, "a sign of life lasts 2 s to a day")
        }
        if let state { try check(state) }
        try await demand(.being, of: user, in: name)
        let presenceKey = presenceKey(.occupant, user, name)
        let duration = duration ?? limits.presenceAge
        let changes = try await tracker.ask(presenceOrigin) { board throws(ChatError) in
            // Once more, in the line in which who is banned is sent out.
            try await demand(.being, of: user, in: name)
            var changes = try await board.renew([presenceKey], for: duration)
            if let state { changes += try await board.setState(Self.shown(state), of: presenceKey) }
            return changes
        }
        return changes.contains { $0.happening == .joined }
    }

    /// The user leaves the channel, with all devices. Harmless for who is not there.
    public func disappear(_ user: String, from name: String) async throws(ChatError) {
        try demandOwn(user, on: name, for: "presence.left")
        let presenceKey = presenceKey(.occupant, user, name)
        try await tracker.ask(presenceOrigin) { board throws(ChatError) in try await board.leave([presenceKey]) }
    }

    /// What the user shows on the channel, in place of what was there; an empty object is nothing.
    /// - Parameter tellsAgain: whether it is told also when it is what the user shows already.
    /// - Throws: `.notFound`, slug `not_present`, for who is not there.
    public func show(
        _ state: JSONText, as user: String, on name: String, tellsAgain: Bool = false
    ) async throws(ChatError) {
        try demandOwn(user, on: name, for: "presence.state_changed")
        try check(state)
        let presenceKey = presenceKey(.occupant, user, name)
        try await tracker.ask(presenceOrigin) { board throws(ChatError) in
            let shown = Self.shown(state)
            let changes = try await board.setState(shown, of: presenceKey)
            guard tellsAgain, changes.isEmpty else { return changes }
            let count = try await board.counts(of: [presenceKey.presenceScope])[0]
            return [PresenceChange(presenceKey, .stateChanged, occupancy: count, state: shown)]
        }
    }

    /// Who is present on the channel after a user, by name.
    public func occupants(
        of name: String, after user: String? = nil, _ order: ListOrder = .ascending, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await seated(.occupant, name, after: user, order, limit: limit)
    }

    /// One who is present; nil when the user is not.
    public func occupant(_ user: String, of name: String) async throws(ChatError) -> Occupancy.Occupant? {
        try await demandHearing(of: name)
        return try await tracker.board.occupant(presenceKey(.occupant, user, name))
    }

    /// The channels a user is present on, as far as the caller may know of them.
    public func presentChannels(of user: String) async throws(ChatError) -> [String] {
        try caller.demand(.read)
        try Names.check(user: user)
        var channels: [String] = []
        for channel in try await tracker.board.channels(of: UserID(user, in: app), as: .occupant)
        where caller.reads(channel: channel.name) {
            if let own = caller.user, try await obstacle(to: .audienceSnapshot, of: own, in: channel.name) != nil {
                continue
            }
            channels.append(channel.name)
        }
        return channels
    }

    /// Takes a user out of a channel in every way: present, inside, typing. For who bans somebody; told after the ban.
    ///
    /// - Parameter moderator: nil when an operator of the app did.
    func expel(_ user: String, from name: String, by moderator: String?) async throws(ChatError) {
        let presenceKeys = PresenceKind.allCases.map { presenceKey($0, user, name) }
        var origin = presenceOrigin
        origin.user = moderator
        try await tracker.ask(origin) { board throws(ChatError) in try await board.leave(presenceKeys) }
    }
}

// MARK: - What all of it asks

extension ChatAccess {
    func presenceKey(_ kind: PresenceKind, _ user: String, _ channel: String) -> PresenceKey {
        PresenceKey(kind, of: user, on: self.channel(channel))
    }

    func seated(
        _ kind: PresenceKind, _ name: String, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await demandHearing(of: name)
        guard (0...limits.pageMost).contains(limit) else {
            throw ChatError(.malformed, "limit must be 0 to \(limits.pageMost)")
        }
        return try await tracker.board.occupants(
            of: PresenceScope(kind, channel(name)), after: user, order, limit: limit)
    }

    /// Whether the caller may say where the user is: the user, and whoever may emit for any.
    ///
    /// - Parameter type: the event that says it.
    func demandOwn(_ user: String, on name: String, for type: String) throws(ChatError) {
        try Names.check(channel: name)
        try caller.demand(channel: name)
        try caller.demand(type: type)
        _ = try actor(user)
    }

    func check(_ state: JSONText) throws(ChatError) {
        guard state.bytes.first == UInt8(ascii: "{") else {
            throw ChatError(.malformed, "a state is a JSON object", slug: "wrong_type", field: "state")
        }
        guard state.count <= limits.presenceStateBytes else {
            throw .over(
                .tooLarge, "a state is \(limits.presenceStateBytes) bytes of JSON at most", name: "limit_bytes",
                limit: limits.presenceStateBytes, field: "state")
        }
    }

    static func shown(_ state: JSONText) -> JSONText? {
        state.rawMembers()?.isEmpty == true ? nil : state
    }
}
