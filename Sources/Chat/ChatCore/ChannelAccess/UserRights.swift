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

/// The rights of one user in one channel.
struct UserRights: Sendable, Equatable {
    /// The state of the membership; nil for a user who is not a member.
    var state: MemberState?
    /// The stored restriction, which may have expired: use `restriction(at:)`.
    var restriction: RestrictionRecord?

    init(state: MemberState? = nil, restriction: RestrictionRecord? = nil) {
        self.state = state
        self.restriction = restriction
    }

    /// The restriction in force at a time. The time is evaluated only when there is a restriction.
    func restriction(at now: @autoclosure () -> Timetoken) -> RestrictionRecord? {
        restriction.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }
}

/// The rules of a channel and the rights of a user there.
struct ChannelAccess: Sendable {
    var channel = ChannelRules()
    var user = UserRights()
    /// The revision of the directory at which both were valid.
    var revision: Revision
}
