import ChatModel

/// The rules for reading and writing in a channel, from the channel's record.
struct ChannelRules: Sendable, Equatable {
    /// The kind of the channel; nil for a channel without a record.
    var kind: ChannelKind?
    var customType: String?
    var isFrozen = false
    private var operators: Set<ExactText> = []

    /// Creates the rules of a channel without a record. These rules restrict nobody.
    init() {}

    init(_ record: ChannelRecord) {
        kind = record.kind
        customType = record.customType
        isFrozen = record.isFrozen
        operators = Set(record.operators.map { ExactText($0) })
    }

    /// Returns true when the user is an operator of the channel.
    func isOperator(_ user: String) -> Bool { operators.contains(ExactText(user)) }
    /// True when the channel's events are for its members only.
    var isPrivate: Bool { kind?.isPrivate ?? false }
}

/// The records of one user in one channel that decide the user's rights there.
struct UserRights: Sendable, Equatable {
    /// True for the channel with the user's own name.
    var isOwnChannel = false
    /// The state of the membership; nil for a user who is not a member.
    var state: MemberState?
    /// The stored restriction, which may have expired: use `restriction(at:)`.
    var restriction: RestrictionRecord?

    init(isOwnChannel: Bool = false, state: MemberState? = nil, restriction: RestrictionRecord? = nil) {
        self.isOwnChannel = isOwnChannel
        self.state = state
        self.restriction = restriction
    }

    /// Reads the rights of a user in a channel from the stored membership and restriction. Records that belong to a
    /// deleted channel of the same name do not count.
    init(
        of user: ExactText, in channel: ChannelID, membership: Record?, restriction: Record? = nil,
        _ pendingDeletions: PendingDeletions
    ) {
        func kept(_ record: Record?) -> Record? {
            record.flatMap { pendingDeletions.hide($0.updated, of: channel) ? nil : $0 }
        }
        self.init(
            isOwnChannel: user == ExactText(channel.name),
            state: kept(membership).flatMap { MembershipRecord($0) }?.state,
            restriction: kept(restriction).flatMap { RestrictionRecord($0) })
    }

    /// Returns the user's relations to the channel at a time. The expression `now` is evaluated only when there is a
    /// restriction.
    func access(at now: @autoclosure () -> Timetoken) -> UserAccess {
        var access: UserAccess = isOwnChannel ? .own : []
        switch state {
        case .invited: access.insert(.invited)
        case .joined: access.insert(.joined)
        case nil: break
        }
        if let restriction = restriction(at: now()) {
            access.formUnion(restriction.isBanned ? [.banned, .muted] : .muted)
        }
        return access
    }

    /// Returns the restriction in force at a time; nil when there is none. The expression `now` is evaluated only when
    /// there is a restriction.
    func restriction(at now: @autoclosure () -> Timetoken) -> RestrictionRecord? {
        restriction.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }
}

extension RecordSnapshot {
    /// Returns the rights of a user in a channel, from the records of this snapshot. The decision (`Directory.decide`)
    /// must request the keys of three records: the membership, the restriction, and the deletion of the channel
    /// (``CascadeDeletionRecord``).
    func rights(of user: String, in channel: String, _ app: AppID) -> UserRights {
        UserRights(
            isOwnChannel: ExactText(user) == ExactText(channel), state: membership(of: user, in: channel, app)?.state,
            restriction: restriction(of: user, in: channel, app))
    }
}

/// The rules of a channel and the rights of a user there.
struct ChannelAccess: Sendable {
    var channel = ChannelRules()
    var user = UserRights()
    /// The revision of the directory of records at which `channel` and `user` were valid.
    var revision: Revision
}
