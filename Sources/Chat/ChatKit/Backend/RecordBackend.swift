public import ChatModel

/// The user, channel and membership operations of a ``ChatBackend``.
public protocol RecordBackend: Sendable {
    /// Returns a user, or nil when the user has no record.
    func user(_ id: String) async throws(ChatError) -> UserRecord?
    /// Returns a page of the app's users.
    func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord>
    /// - Throws: `.conflict` when the record exists already.
    func create(user id: String, _ fields: UserFields) async throws(ChatError) -> UserRecord
    /// - Parameter eTag: the expected version, or nil. `.stale` is thrown when the record has another one.
    func update(user id: String, _ fields: UserFields, eTag: String?) async throws(ChatError) -> UserRecord
    /// Deletes a user's record. The user's messages stay.
    func delete(user id: String) async throws(ChatError)

    /// Returns a channel, or nil when it has no record.
    func channel(_ id: String) async throws(ChatError) -> ChannelState?
    /// Returns a page of the channels that have a record.
    func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelState>
    /// Creates a channel. Its first members are its creator and `users`, who are invited. When the direct channel
    /// exists already, it is returned.
    ///
    /// - Parameters:
    ///   - id: nil generates an id. The id of a direct channel is derived from its users.
    ///   - isDistinct: true returns an existing distinct channel of the same users; for groups.
    func create(
        channel id: String?, kind: ChannelKind, _ fields: ChannelFields, users: [String], isDistinct: Bool
    ) async throws(ChatError) -> ChannelState
    /// - Parameter eTag: the expected version, or nil. `.stale` is thrown when the record has another one.
    func update(
        channel id: String, _ fields: ChannelFields, eTag: String?
    ) async throws(ChatError) -> ChannelState
    /// Deletes a channel's record and its memberships. The channel's events stay.
    func delete(channel id: String) async throws(ChatError)

    /// Makes the backend's user a member of a channel.
    func join(_ channel: String, _ fields: MembershipFields) async throws(ChatError) -> MembershipRecord
    /// Ends the membership of the backend's user.
    func leave(_ channel: String) async throws(ChatError)
    /// Invites users to a channel: either all of them or none.
    func invite(_ users: [String], to channel: String) async throws(ChatError) -> [MembershipRecord]
    /// Declines an invitation of the backend's user.
    func declineInvite(to channel: String) async throws(ChatError)
    /// - Parameter eTag: the expected version, or nil. `.stale` is thrown when the record has another one.
    func update(
        member user: String, of channel: String, _ fields: MembershipFields, eTag: String?
    ) async throws(ChatError) -> MembershipRecord
    /// Removes a member from a channel. Does nothing when the user is no member.
    ///
    /// - Parameter reason: the moderator's reason.
    func remove(member user: String, from channel: String, reason: String?) async throws(ChatError)
    /// Hides a channel from the list of the backend's user.
    ///
    /// - Parameters:
    ///   - hidesHistory: true keeps older messages hidden when the channel comes back.
    ///   - endsWithMessage: true shows the channel again at its next message.
    func hide(_ channel: String, hidesHistory: Bool, endsWithMessage: Bool) async throws(ChatError)
    /// Shows a hidden channel in the user's list again.
    func unhide(_ channel: String) async throws(ChatError)
    /// Returns a membership, or nil when the user is no member.
    func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord?
    /// Returns a page of a channel's members, including invited ones.
    func members(of channel: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord>
    /// Returns a page of a user's memberships.
    func memberships(of user: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord>
}

/// A channel's record with the numbers of its members.
public struct ChannelState: Sendable {
    /// The channel's record.
    public var record: ChannelRecord
    /// The number of members, including invited ones; nil for an open channel.
    public var memberCount: Int?
    /// The number of members who have joined; nil for an open channel.
    public var joinedMemberCount: Int?

    /// A channel with its numbers of members, if it was read with them.
    public init(_ record: ChannelRecord, memberCount: Int? = nil, joinedMemberCount: Int? = nil) {
        self.record = record
        self.memberCount = memberCount
        self.joinedMemberCount = joinedMemberCount
    }
}

/// The filter, order and position of a page of a list.
public struct RecordList: Sendable {
    /// A filter expression over fields: `name LIKE 'An*'`.
    public var filter: String?
    /// `field:asc` or `field:desc`.
    public var sort: [String] = []
    /// The direction of fields without one, and of the list without `sort`; nil selects the list's default.
    public var order: ListOrder?
    /// The lower bound for the time of creation, exclusive; nil: no bound.
    public var after: Timetoken?
    /// The upper bound for the time of creation, exclusive; nil: no bound.
    public var before: Timetoken?
    /// The maximum number of elements on a page.
    public var limit = 50
    /// The cursor that the page before returned.
    public var cursor: String?

    /// The first 50 records in the list's default order.
    public init() {}
}

/// The fields of a user to set. A nil field stays as it is.
public struct UserFields: Sendable {
    /// The name for display.
    public var name: String?
    /// The user's id in another system.
    public var externalID: String?
    /// The address of the user's picture.
    public var profileURL: String?
    /// The user's email address.
    public var email: String?
    /// An object of the app.
    public var custom: AnyJSON?
    /// A state, as free text of the app.
    public var status: String?
    /// A type, as free text of the app.
    public var type: String?

    /// No fields to set.
    public init() {}
}

/// The fields of a channel to set. A nil field stays as it is.
public struct ChannelFields: Sendable {
    /// The name for display.
    public var name: String?
    public var description: String?
    /// The address of a picture.
    public var coverURL: String?
    /// A label for grouping channels.
    public var customType: String?
    /// A type of the app's own; not the kind of channel.
    public var type: String?
    /// A value of any kind that the app stores with the channel.
    public var data: AnyJSON?
    /// An object of the app.
    public var custom: AnyJSON?
    /// A state, as free text of the app.
    public var status: String?

    /// No fields to set.
    public init() {}
}

/// The fields of a membership to set. A nil field stays as it is.
public struct MembershipFields: Sendable {
    /// An object of the app.
    public var custom: AnyJSON?
    /// A state, as free text of the app.
    public var status: String?
    /// A type, as free text of the app.
    public var type: String?
    /// The messages for which the member wants push notifications; only the member may set it.
    public var push: PushPreference?

    /// No fields to set.
    public init() {}
}
