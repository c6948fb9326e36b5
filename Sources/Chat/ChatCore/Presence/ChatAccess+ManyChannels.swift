public import ChatModel
public import JSON

/// Presence on many channels in one request, for clients that use one connection for many channels.
extension ChatAccess {
    /// Sends a heartbeat for a user on all channels in `names`. Channels where the user may not be present are left
    /// out.
    ///
    /// - Parameters:
    ///   - duration: the time for which the heartbeat keeps the user present, limited to between 2 seconds and one day.
    ///   - holder: the poll that keeps the user present until its response is sent; nil for a heartbeat without a poll.
    ///   - states: the user's new states by channel.
    /// - Throws: `.forbidden` when the caller may not report the user's presence on a channel; `.overloaded` when too
    ///   many requests wait; `.tooLarge` for a state above the size limit.
    public nonisolated(nonsending) func appear(
        _ user: String, onAll names: [String], for duration: Duration, by holder: HolderID? = nil,
        showing states: [(channel: String, state: JSONText)] = []
    ) async throws(ChatError) {
        if let holder, states.isEmpty, try stay(user, onAll: names, by: holder) { return }
        var presenceKeys: [PresenceKey] = []
        for (_, state) in states { try check(state) }
        for name in names {
            try requireOwn(user, on: name, for: "presence.joined")
            if try await mayAppear(user, on: name) { presenceKeys.append(presenceKey(.occupant, user, name)) }
        }
        let owner = UserID(user, in: app)
        let shown = states.map {
            (presenceKey: presenceKey(.occupant, user, $0.channel), state: Self.visible($0.state))
        }
        let duration = Self.bounded(duration)
        try await tracker.perform(presenceOrigin) { [presenceKeys] store throws(ChatError) in
            let presenceKeys = try await tracker.permitted(presenceKeys)
            var changes: [PresenceChange]
            if let holder {
                changes = try await store.hold(presenceKeys, of: owner, by: holder)
            } else {
                changes = try await store.renew(presenceKeys, for: duration)
            }
            for (presenceKey, state) in shown where presenceKeys.contains(presenceKey) {
                changes.showing(state, of: presenceKey)
                changes += try await store.setState(state, of: presenceKey)
            }
            return changes
        }
    }

    /// Keeps a user present on all channels in `names` while a poll waits. Returns false, and does nothing, when the user
    /// is not yet present on all of them, or when another node may know otherwise; call
    /// ``appear(_:onAll:for:by:showing:)`` then.
    ///
    /// - Throws: `.forbidden` when the caller may not report the user's presence on a channel.
    public func stay(_ user: String, onAll names: [String], by holder: HolderID) throws(ChatError) -> Bool {
        // A user who has left on another node may still be in the memory of this node.
        guard !tracker.store.hasOtherNodes else { return false }
        for name in names { try requireOwn(user, on: name, for: "presence.joined") }
        return tracker.stayed(holder, of: UserID(user, in: app), presentOn: names)
    }

    /// Makes the user leave all channels in `names`.
    ///
    /// - Throws: `.forbidden` when the caller may not report the user's presence on one of the channels, and
    ///   `.malformed` for a bad name. After these errors, the user has left none of the channels.
    public func disappear(_ user: String, fromAll names: [String]) async throws(ChatError) {
        var presenceKeys: [PresenceKey] = []
        for name in names {
            try requireOwn(user, on: name, for: "presence.left")
            presenceKeys.append(presenceKey(.occupant, user, name))
        }
        try await tracker.perform(presenceOrigin) { [presenceKeys] store throws(ChatError) in
            try await store.leave(presenceKeys)
        }
    }

    /// Returns the channels where users are present, with the number of users in each. Channels that the caller may not
    /// read are left out.
    ///
    /// - Throws: `.forbidden` without the scope `read`; the errors of the store.
    public func occupied() async throws(ChatError) -> [(channel: String, count: Int)] {
        try caller.require(.read)
        var occupied: [(channel: String, count: Int)] = []
        let presenceScopes = try await tracker.store.presenceScopes(of: .occupant, in: app, limit: .max) { [caller] in
            caller.reads(channel: $0.name)
        }
        for (channel, count) in presenceScopes {
            if let own = caller.user, try await refusal(to: .receiving, of: own, in: channel.name) != nil {
                continue
            }
            occupied.append((channel.name, count))
        }
        return occupied
    }

    /// Returns true when the user may be present on a channel. A user who is already present is not checked again,
    /// because a ban ends the presence.
    private nonisolated(nonsending) func mayAppear(_ user: String, on name: String) async throws(ChatError) -> Bool {
        guard !tracker.isPresent(user, channel(name)) else { return true }
        return try await refusal(to: .being, of: user, in: name) == nil
    }

    private static func bounded(_ duration: Duration) -> Duration { min(max(duration, .seconds(2)), .seconds(86_400)) }
}

extension [PresenceChange] {
    /// Adds the user's state to the event that announces the user's arrival.
    fileprivate mutating func showing(_ state: JSONText?, of presenceKey: PresenceKey) {
        for index in indices where self[index].happening == .joined && self[index].presenceKey == presenceKey {
            self[index].state = state
        }
    }
}
