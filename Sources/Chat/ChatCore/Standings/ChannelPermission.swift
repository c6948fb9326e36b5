public import ChatModel

/// What a user may want of a channel. Each takes what the one before it takes, and more.
enum ChannelPermission: Comparable, Sendable {
    /// To know of its record and its members.
    case knowing
    /// To hear or read what is said there, and who is there.
    case audienceSnapshot
    /// To be seen there.
    case being
    case writing
}

extension ChatAccess {
    /// Asks whether a user may have it. Nobody in particular (an operator of the app, a program) always may.
    ///
    /// A ban, a mute and a frozen channel hold for whoever is named, by whatever credential. That a private channel is for
    /// its members, and what is reported of messages for operators, holds for credentials of users: a service may well
    /// speak for somebody who is none.
    /// The channel that another service's clients give a thread is closed to users' own credentials: its replies are in the
    /// channel of the message replied to.
    /// - Throws: `.forbidden` with the slug `banned`, `muted`, `frozen`, `not_a_member` or `not_operator`.
    func demand(_ permission: ChannelPermission, of user: String?, in name: String) async throws(ChatError) {
        guard let user, let obstacle = try await obstacle(to: permission, of: user, in: name) else { return }
        throw obstacle
    }

    /// Why a user may not have it; nil for who may.
    func obstacle(
        to permission: ChannelPermission, of user: String, in name: String
    ) async throws(ChatError) -> ChatError? {
        if caller.user != nil, permission <= .audienceSnapshot, let moderated = Self.channel(moderatedOn: name) {
            return try await standing(of: moderated).isOperator(user) ? nil : .onlyForOperators(of: moderated)
        }
        let channelAccess = try await service.accessCache.channelAccess(of: user, in: channel(name))
        if let obstacle = obstacle(
            to: permission, of: user, in: name, channel: channelAccess.channel, channelAccess.user)
        {
            return obstacle
        }
        // What holds in a channel holds in its threads.
        guard let thread = MappedThread(name) else { return nil }
        return try await obstacle(to: permission, of: user, in: thread.parent)
    }

    /// The same where what is known of both is at hand.
    func obstacle(
        to permission: ChannelPermission, of user: String, in name: String, channel: ChannelRules, _ own: UserRights
    ) -> ChatError? {
        if caller.user != nil, let thread = MappedThread(name) { return .inThread(of: thread) }
        if permission > .knowing, let restriction = own.restriction(at: service.clock.now),
            restriction.isBanned || permission == .writing
        {
            return ChatError(restriction)
        }
        if permission == .writing, channel.isFrozen, !channel.isOperator(user) { return .frozen(name) }
        let isIn = own.state == .joined || (permission == .knowing && own.state != nil)
        // Whatever somebody makes of a channel named as a user, that user stays at home there.
        let isHome = ExactText(user) == ExactText(name)
        return channel.isPrivate && caller.user != nil && !isIn && !isHome ? .notMember(user, of: name) : nil
    }
}

// MARK: - In the step that stores

extension ChatAccess {
    /// What a decision has to look at that asks ``demand(_:of:in:_:)``.
    func standingKeys(of user: String?, in name: String) -> [RecordKey] {
        guard let user else { return [] }
        return [
            ChannelRecord.key(name, in: app), RestrictionRecord.key(user, name, in: app),
            MembershipRecord.key(user, name, in: app), CascadeDeletionRecord.key(name, in: app),
        ]
    }

    /// The same in the step that stores what the user does: nobody who is banned before that step gets anything stored after
    /// it.
    func demand(
        _ permission: ChannelPermission, of user: String?, in name: String, _ snapshot: RecordSnapshot
    ) throws(ChatError) {
        guard let user else { return }
        let channel = snapshot[ChannelRecord.key(name, in: app)].flatMap(ChannelRecord.init).map(
            ChannelRules.init)
        let standing = UserRights(
            state: snapshot.membership(of: user, in: name, app)?.state,
            restriction: snapshot.restriction(of: user, in: name, app))
        if let obstacle = obstacle(to: permission, of: user, in: name, channel: channel ?? ChannelRules(), standing) {
            throw obstacle
        }
    }
}

extension ChatError {
    /// The answer to who is banned or muted.
    init(_ restriction: RestrictionRecord) {
        let what = restriction.isBanned ? "banned from" : "muted in"
        let end = restriction.until.map { "until \($0.timestamp)" } ?? "until that is lifted"
        let reason = restriction.reason.map { " (\($0))" } ?? ""
        self.init(
            .forbidden, "user '\(restriction.user)' is \(what) channel '\(restriction.channel)' \(end)\(reason)",
            slug: restriction.isBanned ? "banned" : "muted")
    }

    fileprivate static func frozen(_ channel: String) -> ChatError {
        ChatError(
            .forbidden, "channel '\(channel)' is frozen: only its operators may write until it is unfrozen",
            slug: "frozen")
    }

    fileprivate static func notMember(_ user: String, of channel: String) -> ChatError {
        ChatError(
            .forbidden, "channel '\(channel)' is for its members: user '\(user)' has to join it first",
            slug: "not_a_member")
    }

    fileprivate static func inThread(of thread: MappedThread) -> ChatError {
        ChatError(
            .forbidden,
            "channel '\(thread.name)' is a thread of another service's clients; use channel '\(thread.parent)' with `thread_of` \(thread.root)"
        )
    }

    fileprivate static func onlyForOperators(of channel: String) -> ChatError {
        ChatError(
            .forbidden, "only an operator of channel '\(channel)' sees what is reported of its messages",
            slug: "not_operator")
    }
}

extension ChatAccess {
    /// What is known of a channel without asking for rights: its kind, whether it is frozen, who moderates it. Nearly
    /// always from memory.
    public func standing(of name: String) async throws(ChatError) -> ChannelRules {
        try await service.accessCache.channelAccess(of: nil, in: channel(name)).channel
    }
}
