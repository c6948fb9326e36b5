public import ChatModel

/// What a channel's record says about who may write and hear.
public struct ChannelRules: Sendable, Equatable {
    /// Nil for a channel that exists by being used alone.
    public var kind: ChannelKind?
    public var customType: String?
    public var isFrozen = false
    private var operators: Set<ExactText> = []

    /// A channel without a record: it holds nobody back.
    public init() {}

    init(_ record: ChannelRecord) {
        kind = record.kind
        customType = record.customType
        isFrozen = record.isFrozen
        operators = Set(record.operators.map { ExactText($0) })
    }

    public func isOperator(_ user: String) -> Bool { operators.contains(ExactText(user)) }
    /// Whether only members hear it on their devices.
    public var isPrivate: Bool { kind?.isPrivate ?? false }
}

/// What is known of one user in one channel.
struct UserRights: Sendable, Equatable {
    /// Nil for one who is no member.
    var state: MemberState?
    /// May be over by now: ask `restriction(at:)`.
    var restriction: RestrictionRecord?

    init(state: MemberState? = nil, restriction: RestrictionRecord? = nil) {
        self.state = state
        self.restriction = restriction
    }

    /// The one in force at a moment, which is not looked up where there is none.
    func restriction(at now: @autoclosure () -> Timetoken) -> RestrictionRecord? {
        restriction.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }
}

/// What a channel is, and what a user is there.
struct ChannelAccess: Sendable {
    var channel = ChannelRules()
    var user = UserRights()
    /// The directory's, by which both were so.
    var revision: Revision
}
