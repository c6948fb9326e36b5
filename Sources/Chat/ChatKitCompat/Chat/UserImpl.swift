import ChatKit
import ChatModel
import ChatRemote
public import FoundationEssentials

/// A user of the app, with the values of the record when the record was read.
public final class UserImpl: Sendable, CustomStringConvertible {
    /// The chat that the user belongs to.
    public let chat: ChatImpl
    let record: UserRecord

    init(_ chat: ChatImpl, _ record: UserRecord) {
        self.chat = chat
        self.record = record
    }

    /// The id of the user.
    public var id: String { record.id }
    /// The name for display; nil for none.
    public var name: String? { record.name }
    /// The user's id in another system; nil for none.
    public var externalId: String? { record.externalID }
    /// The address of the user's picture; nil for none.
    public var profileUrl: String? { record.profileURL }
    /// The email address; nil for none.
    public var email: String? { record.email }
    /// The app's own fields; nil for none.
    public var custom: [String: any JSONCodableScalar]? {
        [String: JSONCodableScalarType](custom: record.custom)
    }
    /// A status that the app defines, as free text; nil for none.
    public var status: String? { record.status }
    /// A type that the app defines, as free text; nil for none.
    public var type: String? { record.type }
    /// The time of the last change, in the format of RFC 3339; nil for a user without a record.
    public var updated: String? { record.updated.timeText }
    /// The version of the record; nil for a user without a record.
    public var eTag: String? { record.etag.isEmpty ? nil : record.etag }

    /// The time at which the user was last active, in milliseconds since 1970; nil when it is not known. PubNub's Chat
    /// SDKs store this time in `custom.lastActiveTimestamp`.
    public var lastActiveTimestamp: TimeInterval? {
        let value = custom?["lastActiveTimestamp"]
        return value?.doubleOptional ?? value?.stringOptional.flatMap { TimeInterval($0) }
    }

    /// True when ``lastActiveTimestamp`` is at most ``ChatConfiguration/storeUserActivityInterval`` seconds ago (600 by
    /// default).
    public var active: Bool {
        lastActiveTimestamp.map { Date().timeIntervalSince1970 - $0 / 1000 <= TimeInterval(chat.config.interval) }
            ?? false
    }

    public var description: String { "UserImpl(id: \(id), name: \(name ?? "nil"))" }

    /// The user's events as sequences.
    public var stream: UserStream { UserStream(user: self) }

    fileprivate var user: ChatKit.User { get throws { ChatKit.User(chat: try chat.connected, record) } }
}

extension UserImpl {
    /// Changes the given fields of the user. A nil field does not change.
    ///
    /// - Parameter custom: the new value of the app's own fields, which replaces all of them.
    /// - Returns: the changed user.
    /// - Throws: the errors of ``ChatImpl/updateUser(id:name:externalId:profileUrl:email:custom:status:type:)``.
    public func update(
        name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        try await chat.updateUser(
            id: id, name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom,
            status: status, type: type)
    }

    /// Changes the given fields of the user; see ``update(name:externalId:profileUrl:email:custom:status:type:)``.
    ///
    /// - Parameter completion: receives the changed user.
    public func update(
        name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil,
        completion: ChatCompletion<UserImpl>? = nil
    ) {
        chat.run(completion) {
            try await self.update(
                name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom,
                status: status, type: type)
        }
    }

    /// Changes the user on the basis of the current record. When another client changes the record at the same time,
    /// the call reads the record again and repeats the change, at most ten times in all.
    ///
    /// - Parameter updateAction: receives the current user and returns the changes. It is called once for each attempt.
    /// - Returns: the changed user.
    /// - Throws: `resourceNotFound` when the user has no record; `preconditionFailed` after ten attempts; otherwise the
    ///   errors of ``ChatImpl/updateUser(id:name:externalId:profileUrl:email:custom:status:type:)``.
    public func update(
        updateAction: @escaping (UserImpl) -> [PubNubMetadataChange<any PubNubUserMetadata>]
    ) async throws -> UserImpl {
        try await chat.withBackend { backend in
            for _ in 0..<10 {
                guard let now = try await backend.user(self.id) else {
                    throw PubNubError(.resourceNotFound, details: ["user '\(self.id)' has no record"])
                }
                let unchanged: any PubNubUserMetadata = PubNubUserMetadataBase(now)
                let changed = updateAction(UserImpl(self.chat, now)).reduce(unchanged) { $1.applied(to: $0) }
                do throws(ChatError) {
                    let record = try await backend.update(user: self.id, UserFields(changed), eTag: now.etag)
                    return UserImpl(self.chat, record)
                } catch {
                    guard error.code == .stale else { throw error }
                }
            }
            throw PubNubError(
                .preconditionFailed,
                details: [
                    "the user was not updated, because other clients changed the user during each of ten attempts; try again"
                ])
        }
    }

    /// Changes the user on the basis of the current record; see ``update(updateAction:)``.
    ///
    /// - Parameter completion: receives the changed user.
    public func update(
        updateAction: @escaping (UserImpl) -> [PubNubMetadataChange<any PubNubUserMetadata>],
        completion: ChatCompletion<UserImpl>?
    ) {
        chat.run(completion) { try await self.update(updateAction: updateAction) }
    }

    /// Deletes the user's record, but not the user's messages. Does nothing when the user has no record.
    ///
    /// - Throws: `forbidden` for another user than the chat's user, unless the chat has an API key; the errors common
    ///   to all calls (see ``ChatImpl``).
    public func delete() async throws { try await chat.deleteUser(id: id) }

    /// Deletes the user's record, but not the user's messages. Does nothing when the user has no record.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Returns the ids of the channels in which the user is present.
    ///
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func wherePresent() async throws -> [String] { try await chat.wherePresent(userId: id) }

    /// Reads the ids of the channels in which the user is present.
    ///
    /// - Parameter completion: receives the ids of the channels in which the user is present.
    public func wherePresent(completion: ChatCompletion<[String]>? = nil) {
        chat.run(completion) { try await self.wherePresent() }
    }

    /// Returns true when the user is present in a channel.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func isPresentOn(channelId: String) async throws -> Bool {
        try await chat.isPresent(userId: id, channelId: channelId)
    }

    /// Reads whether the user is present in a channel.
    ///
    /// - Parameter completion: receives true when the user is present in a channel.
    public func isPresentOn(channelId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isPresentOn(channelId: channelId) }
    }

    /// Returns a page of the user's memberships, including invitations. The call sends one request for the channel of
    /// each membership.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of memberships, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    ///   - filter: a filter expression, such as `state == 'joined'`; nil selects all memberships.
    ///   - sort: the sort fields, the most significant first; empty selects the gateway's default order.
    /// - Returns: the memberships; `page` is the position of the next page, or nil on the last page.
    /// - Throws: `forbidden` for another user than the chat's user, unless the chat has an API key;
    ///   `malformedFilterExpression` for an invalid filter; `badRequest` for an invalid limit, page or sort field; the
    ///   errors common to all calls (see ``ChatImpl``).
    public func getMemberships(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = []
    ) async throws -> (memberships: [MembershipImpl], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.memberships(
                of: self.id, RecordList(filter, sort, limit, page, other: "channel"))
            return (try await self.chat.memberships(found.items, user: self), found.next)
        }
    }

    /// Reads a page of the user's memberships; see ``getMemberships(limit:page:filter:sort:)``.
    ///
    /// - Parameter completion: receives the page of the user's memberships.
    public func getMemberships(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [],
        completion: ChatCompletion<(memberships: [MembershipImpl], page: (any PubNubHashedPage)?)>? = nil
    ) {
        chat.run(completion) {
            try await self.getMemberships(limit: limit, page: page, filter: filter, sort: sort)
        }
    }

    /// Returns the user's membership in a channel, or nil when the user is not a member.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getMembership(channelId: String) async throws -> MembershipImpl? {
        try await chat.membership(of: id, in: channelId)
    }

    /// Reads the user's membership in a channel; nil when the user is not a member.
    ///
    /// - Parameter completion: receives the user's membership in a channel; nil when the user is not a member.
    public func getMembership(channelId: String, completion: ChatCompletion<MembershipImpl?>? = nil) {
        chat.run(completion) { try await self.getMembership(channelId: channelId) }
    }

    /// Returns true when the user is a member of a channel or is invited to it.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func isMemberOf(channelId: String) async throws -> Bool {
        try await chat.withBackend { try await $0.member(self.id, of: channelId) } != nil
    }

    /// Reads whether the user is a member of a channel or is invited to it.
    ///
    /// - Parameter completion: receives true when the user is a member of a channel or is invited to it.
    public func isMemberOf(channelId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isMemberOf(channelId: channelId) }
    }

    /// Returns a page of the user's restrictions in all channels.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of restrictions, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    /// - Returns: the restrictions; `page` is the position of the next page, or nil on the last page.
    /// - Throws: `forbidden` for another user than the chat's user, unless the chat has an API key; `badRequest` for an
    ///   invalid limit or page; the errors common to all calls (see ``ChatImpl``).
    public func getChannelsRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> (restrictions: [Restriction], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.restrictions(of: self.id, limit: limit ?? 100, cursor: page?.start)
            return (found.items.map { Restriction($0) }, found.next)
        }
    }

    /// Reads a page of the user's restrictions in all channels; see ``getChannelsRestrictions(limit:page:)``.
    ///
    /// - Parameter completion: receives the page of the user's restrictions in all channels.
    public func getChannelsRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil,
        completion: ChatCompletion<(restrictions: [Restriction], page: (any PubNubHashedPage)?)>?
    ) {
        chat.run(completion) { try await self.getChannelsRestrictions(limit: limit, page: page) }
    }
}

// MARK: - Events

extension UserImpl {
    /// Calls back with the user after the user's record is created and after each change of the record.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onUpdated(callback: @escaping (UserImpl) -> Void) -> any AutoCloseable {
        let (chat, id) = (chat, id)
        return chat.listen({ try user.stream.updated() }, { _ in try await chat.getUser(userId: id) }, callback)
    }

    /// Calls back when the user's record is deleted.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onDeleted(callback: @escaping () -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.deleted() }, { _ in true }, { _ in callback() })
    }

    /// Calls back with each mention of the user in a message.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onMentioned(callback: @escaping (Mention) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.mentioned() }, { Mention($0) }, callback)
    }

    /// Calls back with each invitation of the user to a channel.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onInvited(callback: @escaping (Invite) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.invited() }, { Invite($0) }, callback)
    }

    /// Calls back with each mute and ban of the user in any channel, and with the end of each mute and ban.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onRestrictionChanged(callback: @escaping (Restriction) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.restrictionChanged() }, { Restriction($0) }, callback)
    }

    /// Calls back with the user after each change of the record, and with nil when the record is deleted.
    @available(*, deprecated, message: "use onUpdated and onDeleted")
    public func streamUpdates(callback: @escaping (UserImpl?) -> Void) -> any AutoCloseable {
        let (chat, id) = (chat, id)
        return chat.listen(
            { try user.updates },
            { $0 == nil ? .some(nil) : .some(try await chat.getUser(userId: id)) }, callback)
    }

    /// Calls back with all of the given users each time one of the users changes. Users whose records are deleted are
    /// left out.
    @available(*, deprecated, message: "use onUpdated and onDeleted of each user")
    public static func streamUpdatesOn(
        users: [UserImpl], callback: @escaping ([UserImpl]) -> Void
    ) -> any AutoCloseable {
        guard let chat = users.first?.chat else { return ClosedListener() }
        return chat.listen(
            { ChatKit.User.updates(of: try users.map { try $0.user }) },
            { users in
                try await chat.concurrently(users.map(\.id)) { try await chat.getUser(userId: $0) }.compactMap(\.self)
            }, callback)
    }
}

/// The events of a user as sequences. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct UserStream: Sendable {
    let user: UserImpl

    /// Yields the user after each change of the record.
    public func updates() -> AsyncStream<UserImpl> { .following { user.onUpdated(callback: $0) } }
    /// Yields one element when the user's record is deleted.
    public func deletions() -> AsyncStream<Void> {
        .following { yield in user.onDeleted { yield(()) } }
    }
    /// Yields each mention of the user in a message.
    public func mentions() -> AsyncStream<Mention> { .following { user.onMentioned(callback: $0) } }
    /// Yields each invitation of the user to a channel.
    public func invites() -> AsyncStream<Invite> { .following { user.onInvited(callback: $0) } }
    /// Yields each mute and ban of the user in any channel, and the end of each mute and ban.
    public func restrictionChanges() -> AsyncStream<Restriction> {
        .following { user.onRestrictionChanged(callback: $0) }
    }
}

extension AsyncStream {
    /// Returns a sequence of the values that a listener passes to its closure. When the sequence ends, the listener
    /// ends. At most 1000 elements wait for a slow reader; then the oldest are dropped.
    ///
    /// - Parameter listen: starts the listener, which calls the given closure with each value.
    static func following(_ listen: (@escaping (Element) -> Void) -> any AutoCloseable) -> AsyncStream<Element>
    where Element: Sendable {
        let (stream, continuation) = makeStream(bufferingPolicy: .bufferingNewest(1000))
        let listener = listen { continuation.yield($0) }
        continuation.onTermination = { _ in listener.close() }
        return stream
    }
}
