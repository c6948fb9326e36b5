public import ChatModel

/// Users, channels and memberships of a ``ChatBackend``.
public protocol RecordBackend: Sendable {
    /// Nil when there is none.
    func user(_ id: String) async throws(ChatError) -> UserRecord?
    func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord>
    /// - Throws: `.conflict` when there is one.
    func create(user id: String, _ fields: UserFields) async throws(ChatError) -> UserRecord
    /// - Parameter eTag: the version that must be there, if any; `.stale` is thrown for another.
    func update(user id: String, _ fields: UserFields, eTag: String?) async throws(ChatError) -> UserRecord
    func delete(user id: String) async throws(ChatError)

    /// Nil when it has no record.
    func channel(_ id: String) async throws(ChatError) -> ChannelRecord?
    func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelRecord>
    /// Makes a channel whose first members are its maker and `users`, who are invited. A direct channel that is there
    /// already is the answer.
    ///
    /// - Parameters:
    ///   - id: nil makes one up; a direct channel's is made of its users.
    ///   - isDistinct: whether a distinct channel that the same users have is the answer; for groups.
    func create(
        channel id: String?, kind: ChannelKind, _ fields: ChannelFields, users: [String], isDistinct: Bool
    ) async throws(ChatError) -> ChannelRecord
    func update(
        channel id: String, _ fields: ChannelFields, eTag: String?
    ) async throws(ChatError) -> ChannelRecord
    func delete(channel id: String) async throws(ChatError)

    /// The membership of the backend's user.
    func join(_ channel: String, _ fields: MembershipFields) async throws(ChatError) -> MembershipRecord
    func leave(_ channel: String) async throws(ChatError)
    func invite(_ users: [String], to channel: String) async throws(ChatError) -> [MembershipRecord]
    func declineInvite(to channel: String) async throws(ChatError)
    func update(
        member user: String, of channel: String, _ fields: MembershipFields, eTag: String?
    ) async throws(ChatError) -> MembershipRecord
    /// Ends somebody's membership; nothing happens when there is none.
    ///
    /// - Parameter reason: why, in a moderator's words.
    func remove(member user: String, from channel: String, reason: String?) async throws(ChatError)
    /// Takes the channel off the list of the backend's user.
    ///
    /// - Parameters:
    ///   - hidesHistory: older messages are not shown again when the channel comes back.
    ///   - endsWithMessage: the next message brings it back.
    func hide(_ channel: String, hidesHistory: Bool, endsWithMessage: Bool) async throws(ChatError)
    func unhide(_ channel: String) async throws(ChatError)
    /// Nil when the user is no member.
    func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord?
    func members(of channel: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord>
    func memberships(of user: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord>
}

/// A page of a list.
public struct RecordList: Sendable {
    /// An expression over fields: `name LIKE 'An*'`.
    public var filter: String?
    /// `field:asc` or `field:desc`.
    public var sort: [String] = []
    public var limit = 50
    /// From the page before.
    public var cursor: String?

    public init() {}
}

/// What is to be set of a user; what is nil stays as it is.
public struct UserFields: Sendable {
    public var name: String?
    public var externalID: String?
    public var profileURL: String?
    public var email: String?
    public var custom: AnyJSON?
    public var status: String?
    public var type: String?

    public init() {}
}

/// What is to be set of a channel; what is nil stays as it is.
public struct ChannelFields: Sendable {
    public var name: String?
    public var description: String?
    public var coverURL: String?
    public var customType: String?
    public var data: AnyJSON?
    public var custom: AnyJSON?
    public var status: String?

    public init() {}
}

/// What is to be set of a membership; what is nil stays as it is.
public struct MembershipFields: Sendable {
    public var custom: AnyJSON?
    public var status: String?
    public var type: String?
    public var push: PushPreference?

    public init() {}
}
