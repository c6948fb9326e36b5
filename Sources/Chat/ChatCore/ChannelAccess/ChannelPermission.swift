import ChatModel

/// A permission for a channel. The cases are in ascending order: each permission requires everything that the previous
/// ones require.
enum ChannelPermission: Comparable, Sendable {
    /// Reading the channel's record and its members.
    case knowing
    /// Receiving or reading the channel's events, and seeing the users present.
    case receiving
    /// Being listed as present.
    case being
    case writing
}

extension ChatAccess {
    /// Requires a permission for a user. A caller without a user (an operator of the app, or a program) always has the
    /// permission.
    ///
    /// A ban, a mute and a frozen channel apply to any named user, with any credential. Three rules apply only to
    /// users' own credentials: only members may use a private channel; only operators may read reports of messages; and
    /// nobody may use the channel name by which PubNub clients address a thread. (The replies are stored in the channel
    /// of the thread's parent message.) A service may act in a private channel for a user who is not a member.
    ///
    /// - Throws: `.forbidden` with the slug `banned`, `muted`, `frozen`, `not_a_member` or `not_operator`.
    func require(_ permission: ChannelPermission, of user: String?, in name: String) async throws(ChatError) {
        guard let user, let obstacle = try await newestRefusal(to: permission, of: user, in: name) else { return }
        throw obstacle
    }

    /// Returns the error that denies a user the permission, by the newest records of all nodes; nil when the user has
    /// the permission.
    func newestRefusal(
        to permission: ChannelPermission, of user: String, in name: String
    ) async throws(ChatError) -> ChatError? {
        guard let known = try await refusal(to: permission, of: user, in: name) else { return nil }
        guard service.isShared else { return known }
        try await service.catchUp()
        return try await refusal(to: permission, of: user, in: name)
    }

    /// Returns the error that denies a user the permission; nil when the user has the permission. Use it to filter
    /// lists. For a rejection of the request, use ``newestRefusal(to:of:in:)``.
    func refusal(
        to permission: ChannelPermission, of user: String, in name: String
    ) async throws(ChatError) -> ChatError? {
        if caller.user != nil, permission <= .receiving, let moderated = Self.channel(moderatedOn: name) {
            return try await rules(of: moderated).isOperator(user) ? nil : .onlyForOperators(of: moderated)
        }
        let channelAccess = try await service.accessCache.channelAccess(of: user, in: channel(name))
        if let obstacle = refusal(
            to: permission, of: user, in: name, channel: channelAccess.channel, channelAccess.user)
        {
            return obstacle
        }
        // The rules of a channel also apply to its threads.
        guard let thread = MappedThread(name) else { return nil }
        return try await refusal(to: permission, of: user, in: thread.parent)
    }

    /// Returns the error that denies a user the permission, from known channel rules and user rights; nil when the user
    /// has the permission.
    func refusal(
        to permission: ChannelPermission, of user: String, in name: String, channel: ChannelRules, _ own: UserRights
    ) -> ChatError? {
        if caller.user != nil, let thread = MappedThread(name) { return .inThread(of: thread) }
        let obstacle = own.access(at: service.clock.now).obstacle(
            to: permission, in: channel, for: user, isOwnCredential: caller.user != nil)
        return switch obstacle {
        case .banned: .restricted(user, in: name, isBanned: true, by: own.restriction)
        case .muted: .restricted(user, in: name, isBanned: false, by: own.restriction)
        case .frozen: .frozen(name)
        case .notMember: .notMember(user, of: name)
        case nil: nil
        }
    }
}

// MARK: - Checks in the step that commits

extension ChatAccess {
    /// The keys of the records that ``require(_:of:in:_:)`` reads in a decision, which is a step that reads and changes
    /// records in one commit. Empty when `user` is nil.
    func rightsKeys(of user: String?, in name: String) -> [RecordKey] {
        guard let user else { return [] }
        return [
            ChannelRecord.key(name, in: app), RestrictionRecord.key(user, name, in: app),
            MembershipRecord.key(user, name, in: app), CascadeDeletionRecord.key(name, in: app),
        ]
    }

    /// Requires a permission for a user, from the records in the snapshot of the decision that commits the user's
    /// change. So nothing by a banned user is stored after the ban is committed.
    func require(
        _ permission: ChannelPermission, of user: String?, in name: String, _ snapshot: RecordSnapshot
    ) throws(ChatError) {
        guard let user else { return }
        let channel = snapshot[ChannelRecord.key(name, in: app)].flatMap(ChannelRecord.init).map(
            ChannelRules.init)
        let rights = snapshot.rights(of: user, in: name, app)
        if let obstacle = refusal(to: permission, of: user, in: name, channel: channel ?? ChannelRules(), rights) {
            throw obstacle
        }
    }
}

extension ChatError {
    /// The error for a banned or muted user.
    ///
    /// - Parameter restriction: the stored restriction, which has the end time and the reason.
    static func restricted(
        _ user: String, in channel: String, isBanned: Bool, by restriction: RestrictionRecord?
    ) -> ChatError {
        let what = isBanned ? "banned from" : "muted in"
        let end = restriction?.until.map { "until \($0.timestamp)" } ?? "until the restriction is lifted"
        let reason = restriction?.reason.map { " (\($0))" } ?? ""
        return ChatError(
            .forbidden, "user '\(user)' is \(what) channel '\(channel)' \(end)\(reason)",
            slug: isBanned ? "banned" : "muted")
    }

    fileprivate static func frozen(_ channel: String) -> ChatError {
        ChatError(
            .forbidden, "channel '\(channel)' is frozen: only its operators may write; ask one of them to unfreeze it",
            slug: "frozen")
    }

    fileprivate static func notMember(_ user: String, of channel: String) -> ChatError {
        ChatError(
            .forbidden, "only members may use channel '\(channel)': user '\(user)' must join it first",
            slug: "not_a_member")
    }

    fileprivate static func inThread(of thread: MappedThread) -> ChatError {
        ChatError(
            .forbidden,
            "only PubNub clients use channel '\(thread.name)'; to reply in the thread, send to channel '\(thread.parent)' with 'thread_of' set to \(thread.root)"
        )
    }

    fileprivate static func onlyForOperators(of channel: String) -> ChatError {
        ChatError(
            .forbidden, "only an operator of channel '\(channel)' may see the reports of its messages",
            slug: "not_operator")
    }
}

extension ChatAccess {
    /// Returns the rules of a channel without checking rights: its kind, whether it is frozen, and its operators. Reads
    /// the directory of records only when the cache lacks an entry.
    func rules(of name: String) async throws(ChatError) -> ChannelRules {
        try await service.accessCache.channelAccess(of: nil, in: channel(name)).channel
    }
}
