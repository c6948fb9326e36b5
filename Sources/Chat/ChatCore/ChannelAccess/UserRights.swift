import ChatModel

/// The rules of a channel's record for writing and receiving.
struct ChannelRules: Sendable, Equatable {
    /// The kind; nil for a channel without a record.
    var kind: ChannelKind?
    var customType: String?
    var isFrozen = false
    private var operators: Set<ExactText> = []

    /// The rules of a channel without a record, which restrict nobody.
    init() {}

    init(_ record: ChannelRecord) {
        kind = record.kind
        customType = record.customType
        isFrozen = record.isFrozen
        operators = Set(record.operators.map { ExactText($0) })
    }

    /// True when the user moderates the channel.
    func isOperator(_ user: String) -> Bool { operators.contains(ExactText(user)) }
    /// True when only members receive its events on their devices.
    var isPrivate: Bool { kind?.isPrivate ?? false }
}

/// The records of one user in one channel, which decide the user's rights there.
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

    /// The rights of a user in a channel, from the stored records of both. Records of a deleted channel of the same name
    /// do not count.
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

    /// The relation of the user to the channel at a time. The time is evaluated only when there is a restriction.
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

    /// The restriction in force at a time. The time is evaluated only when there is a restriction.
    func restriction(at now: @autoclosure () -> Timetoken) -> RestrictionRecord? {
        restriction.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }
}

extension RecordSnapshot {
    /// The rights of a user in a channel. The decision must request the keys of the membership, the restriction and the
    /// cascade deletion.
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
    /// The revision of the directory at which both were valid.
    var revision: Revision
}
