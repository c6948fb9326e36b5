public import ChatModel

/// The user, channel and membership operations of a ``ChatBackend``.
public protocol RecordBackend: Sendable {
    /// Returns a user, or nil when the user has no record.
    func user(_ id: String) async throws(ChatError) -> UserRecord?
    /// Returns a page of the app's users.
    func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord>
    /// Creates a user's record, and returns it.
    ///
    /// - Throws: `.conflict` when the record already exists.
    func create(user id: String, _ fields: UserFields) async throws(ChatError) -> UserRecord
    /// Changes fields of a user's record, and returns the changed record.
    ///
    /// - Parameter eTag: the expected version; nil for any version. If the record has another version, `.stale` is
    ///   thrown.
    func update(user id: String, _ fields: UserFields, eTag: String?) async throws(ChatError) -> UserRecord
    /// Deletes a user's record, but not the user's messages.
    func delete(user id: String) async throws(ChatError)

    /// Returns a channel, or nil when it has no record.
    func channel(_ id: String) async throws(ChatError) -> ChannelState?
    /// Returns a page of the channels that have a record.
    func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelState>
    /// Creates a channel. Its first members are the creator, who joins, and `users`, who are invited. If the direct
    /// channel of two users already exists, it is returned.
    ///
    /// - Parameters:
    ///   - id: the id of the channel; nil generates an id. The id of a direct channel is always derived from its users.
    ///   - isDistinct: used only for group channels. True creates a distinct channel; if a distinct channel with the
    ///     same members already exists, it is returned instead.
    func create(
        channel id: String?, kind: ChannelKind, _ fields: ChannelFields, users: [String], isDistinct: Bool
    ) async throws(ChatError) -> ChannelState
    /// Changes fields of a channel's record, and returns the changed channel.
    ///
    /// - Parameter eTag: the expected version; nil for any version. If the record has another version, `.stale` is
    ///   thrown.
    func update(
        channel id: String, _ fields: ChannelFields, eTag: String?
    ) async throws(ChatError) -> ChannelState
    /// Deletes a channel's record and its memberships, but not its events.
    func delete(channel id: String) async throws(ChatError)

    /// Makes the backend's user a member of a channel.
    func join(_ channel: String, _ fields: MembershipFields) async throws(ChatError) -> MembershipRecord
    /// Ends the membership of the backend's user.
    func leave(_ channel: String) async throws(ChatError)
    /// Invites all of the users to a channel, or none of them.
    func invite(_ users: [String], to channel: String) async throws(ChatError) -> [MembershipRecord]
    /// Declines an invitation of the backend's user.
    func declineInvite(to channel: String) async throws(ChatError)
    /// Changes fields of a membership, and returns the changed membership.
    ///
    /// - Parameter eTag: the expected version; nil for any version. If the record has another version, `.stale` is
    ///   thrown.
    func update(
        member user: String, of channel: String, _ fields: MembershipFields, eTag: String?
    ) async throws(ChatError) -> MembershipRecord
    /// Removes a member from a channel. Does nothing when the user is not a member.
    ///
    /// - Parameter reason: the moderator's reason; nil for none.
    func remove(member user: String, from channel: String, reason: String?) async throws(ChatError)
    /// Hides a channel from the list of the backend's user.
    ///
    /// - Parameters:
    ///   - hidesHistory: true keeps the previous messages hidden after the channel is shown again.
    ///   - endsWithMessage: true shows the channel again when it gets a new message.
    func hide(_ channel: String, hidesHistory: Bool, endsWithMessage: Bool) async throws(ChatError)
    /// Shows a hidden channel in the user's list again.
    func unhide(_ channel: String) async throws(ChatError)
    /// Returns a membership, or nil when the user is not a member.
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

    /// Creates a channel with its numbers of members; nil when they were not read.
    public init(_ record: ChannelRecord, memberCount: Int? = nil, joinedMemberCount: Int? = nil) {
        self.record = record
        self.memberCount = memberCount
        self.joinedMemberCount = joinedMemberCount
    }
}

/// A query for a page of a list: filter, order and position.
public struct RecordList: Sendable {
    /// A filter expression over the fields of the records, such as `name LIKE 'An*'`; nil for no filter.
    public var filter: String?
    /// The fields to sort by, such as `name:asc` or `name:desc`. Later fields order records that are equal in the
    /// earlier fields.
    public var sort: [String] = []
    /// The direction for fields of `sort` without `:asc` or `:desc`, and for the list when `sort` is empty; nil selects
    /// the default.
    public var order: ListOrder?
    /// The lower bound of the time of creation, exclusive; nil for no bound.
    public var after: Timetoken?
    /// The upper bound of the time of creation, exclusive; nil for no bound.
    public var before: Timetoken?
    /// The maximum number of elements on a page.
    public var limit = 50
    /// The cursor of the previous page; nil for the first page.
    public var cursor: String?

    /// Creates a query for the first 50 records in the default order.
    public init() {}
}

/// The fields of a user to change. A nil field does not change.
public struct UserFields: Sendable {
    /// The name for display.
    public var name: String?
    /// The user's id in another system.
    public var externalID: String?
    /// The address of the user's picture.
    public var profileURL: String?
    /// The user's email address.
    public var email: String?
    /// The app's own data, a JSON object.
    public var custom: AnyJSON?
    /// A status that the app defines, as free text.
    public var status: String?
    /// A type that the app defines, as free text.
    public var type: String?

    /// Creates a value in which every field is nil.
    public init() {}
}

/// The fields of a channel to change. A nil field does not change.
public struct ChannelFields: Sendable {
    /// The name for display.
    public var name: String?
    public var description: String?
    /// The address of a picture.
    public var coverURL: String?
    /// A label for grouping channels.
    public var customType: String?
    /// A type that the app defines, as free text. The type is not the kind of the channel.
    public var type: String?
    /// The app's own data, any JSON value.
    public var data: AnyJSON?
    /// The app's own data, a JSON object.
    public var custom: AnyJSON?
    /// A status that the app defines, as free text.
    public var status: String?

    /// Creates a value in which every field is nil.
    public init() {}
}

/// The fields of a membership to change. A nil field does not change.
public struct MembershipFields: Sendable {
    /// The app's own data, a JSON object.
    public var custom: AnyJSON?
    /// A status that the app defines, as free text.
    public var status: String?
    /// A type that the app defines, as free text.
    public var type: String?
    /// The messages for which the member wants push notifications. Only the member may set the preference.
    public var push: PushPreference?

    /// Creates a value in which every field is nil.
    public init() {}
}
