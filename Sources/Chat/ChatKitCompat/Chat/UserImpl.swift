import ChatKit
import ChatModel
import ChatRemote
public import FoundationEssentials

/// A user of the app, as the record was when it was read.
public final class UserImpl: Sendable, CustomStringConvertible {
    public let chat: ChatImpl
    let record: UserRecord

    init(_ chat: ChatImpl, _ record: UserRecord) {
        self.chat = chat
        self.record = record
    }

    public var id: String { record.id }
    /// The name for display.
    public var name: String? { record.name }
    /// The user's id in another system.
    public var externalId: String? { record.externalID }
    /// The address of the user's picture.
    public var profileUrl: String? { record.profileURL }
    /// The email address.
    public var email: String? { record.email }
    /// Fields of the app's own.
    public var custom: [String: any JSONCodableScalar]? {
        [String: JSONCodableScalarType](custom: record.custom)
    }
    /// A state, as free text of the app.
    public var status: String? { record.status }
    /// A type, as free text of the app.
    public var type: String? { record.type }
    /// The time of the last change, in the format of RFC 3339; nil for a user without a record.
    public var updated: String? { record.updated.timeText }
    /// The version of the record; nil for a user without one.
    public var eTag: String? { record.etag.isEmpty ? nil : record.etag }

    /// The time at which the user was last active, in milliseconds since 1970; nil for none. Chat SDKs store it in
    /// `custom.lastActiveTimestamp`.
    public var lastActiveTimestamp: TimeInterval? {
        let value = custom?["lastActiveTimestamp"]
        return value?.doubleOptional ?? value?.stringOptional.flatMap { TimeInterval($0) }
    }

    /// True when ``lastActiveTimestamp`` is not older than the interval of the chat's ``ChatConfiguration``, ten minutes by
    /// default.
    public var active: Bool {
        lastActiveTimestamp.map { Date().timeIntervalSince1970 - $0 / 1000 <= TimeInterval(chat.config.interval) }
            ?? false
    }

    public var description: String { "UserImpl(id: \(id), name: \(name ?? "nil"))" }

    /// The sequences of the user's events.
    public var stream: UserStream { UserStream(user: self) }

    fileprivate var user: ChatKit.User { get throws { ChatKit.User(chat: try chat.connected, record) } }
}

extension UserImpl {
    /// Changes the given fields, keeps the others, and returns the changed user.
    public func update(
        name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        try await chat.updateUser(
            id: id, name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom,
            status: status, type: type)
    }

    /// Changes the given fields and keeps the others.
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

    /// Changes the user on the basis of the current record. The closure is called again when another client changed the
    /// record first, ten times at most.
    ///
    /// - Parameter updateAction: receives the current user and returns the changes.
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
                .preconditionFailed, details: ["another client changed the user at each of ten attempts; try again"])
        }
    }

    /// Changes the user on the basis of the current record; see ``update(updateAction:)``.
    public func update(
        updateAction: @escaping (UserImpl) -> [PubNubMetadataChange<any PubNubUserMetadata>],
        completion: ChatCompletion<UserImpl>?
    ) {
        chat.run(completion) { try await self.update(updateAction: updateAction) }
    }

    /// Deletes the user's record. The user's messages stay.
    public func delete() async throws { try await chat.deleteUser(id: id) }

    /// Deletes the user's record. The user's messages stay.
    public func delete(completion: ChatCompletion<Void>? = nil) { chat.run(completion) { try await self.delete() } }

    /// Returns the ids of the channels in which the user is present.
    public func wherePresent() async throws -> [String] { try await chat.wherePresent(userId: id) }

    /// Reads the ids of the channels in which the user is present.
    public func wherePresent(completion: ChatCompletion<[String]>? = nil) {
        chat.run(completion) { try await self.wherePresent() }
    }

    /// Returns true when the user is present in a channel.
    public func isPresentOn(channelId: String) async throws -> Bool {
        try await chat.isPresent(userId: id, channelId: channelId)
    }

    /// Reads whether the user is present in a channel.
    public func isPresentOn(channelId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isPresentOn(channelId: channelId) }
    }

    /// Returns a page of the user's memberships.
    ///
    /// - Parameter limit: the maximum number of memberships, 1 to 250; 100 if nil.
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

    /// Reads a page of the user's memberships.
    public func getMemberships(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, filter: String? = nil,
        sort: [PubNub.MembershipSortField] = [],
        completion: ChatCompletion<(memberships: [MembershipImpl], page: (any PubNubHashedPage)?)>? = nil
    ) {
        chat.run(completion) {
            try await self.getMemberships(limit: limit, page: page, filter: filter, sort: sort)
        }
    }

    /// Returns the user's membership in a channel; nil when the user is no member.
    public func getMembership(channelId: String) async throws -> MembershipImpl? {
        try await chat.membership(of: id, in: channelId)
    }

    /// Reads the user's membership in a channel; nil when the user is no member.
    public func getMembership(channelId: String, completion: ChatCompletion<MembershipImpl?>? = nil) {
        chat.run(completion) { try await self.getMembership(channelId: channelId) }
    }

    /// Returns true when the user is a member of a channel.
    public func isMemberOf(channelId: String) async throws -> Bool {
        try await chat.withBackend { try await $0.member(self.id, of: channelId) } != nil
    }

    /// Reads whether the user is a member of a channel.
    public func isMemberOf(channelId: String, completion: ChatCompletion<Bool>? = nil) {
        chat.run(completion) { try await self.isMemberOf(channelId: channelId) }
    }

    /// Returns a page of the user's restrictions in all channels.
    public func getChannelsRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> (restrictions: [Restriction], page: (any PubNubHashedPage)?) {
        try await chat.withBackend { backend in
            let found = try await backend.restrictions(of: self.id, limit: limit ?? 100, cursor: page?.start)
            return (found.items.map { Restriction($0) }, found.next)
        }
    }

    /// Reads a page of the user's restrictions in all channels.
    public func getChannelsRestrictions(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil,
        completion: ChatCompletion<(restrictions: [Restriction], page: (any PubNubHashedPage)?)>?
    ) {
        chat.run(completion) { try await self.getChannelsRestrictions(limit: limit, page: page) }
    }
}

// MARK: - Events

extension UserImpl {
    /// Calls back with the user after the record was created and after each change of it.
    public func onUpdated(callback: @escaping (UserImpl) -> Void) -> any AutoCloseable {
        let (chat, id) = (chat, id)
        return chat.listen({ try user.stream.updated() }, { _ in try await chat.getUser(userId: id) }, callback)
    }

    /// Calls back when the user's record is deleted.
    public func onDeleted(callback: @escaping () -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.deleted() }, { _ in true }, { _ in callback() })
    }

    /// Calls back with each message that mentions the user.
    public func onMentioned(callback: @escaping (Mention) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.mentioned() }, { Mention($0) }, callback)
    }

    /// Calls back with each invitation of the user.
    public func onInvited(callback: @escaping (Invite) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.invited() }, { Invite($0) }, callback)
    }

    /// Calls back with each mute and ban of the user in any channel, and with their ends.
    public func onRestrictionChanged(callback: @escaping (Restriction) -> Void) -> any AutoCloseable {
        chat.listen({ try user.stream.restrictionChanged() }, { Restriction($0) }, callback)
    }

    /// Calls back with the user after each change, and with nil when the record is deleted.
    @available(*, deprecated, message: "use onUpdated and onDeleted")
    public func streamUpdates(callback: @escaping (UserImpl?) -> Void) -> any AutoCloseable {
        let (chat, id) = (chat, id)
        return chat.listen(
            { try user.updates },
            { $0 == nil ? .some(nil) : .some(try await chat.getUser(userId: id)) }, callback)
    }

    /// Calls back with all users after each change of one of them. A user whose record is deleted is left out.
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

/// The sequences of a user's events. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct UserStream: Sendable {
    let user: UserImpl

    /// The user after each change of the record.
    public func updates() -> AsyncStream<UserImpl> { .following { user.onUpdated(callback: $0) } }
    /// One element when the record is deleted.
    public func deletions() -> AsyncStream<Void> {
        .following { yield in user.onDeleted { yield(()) } }
    }
    /// The messages that mention the user.
    public func mentions() -> AsyncStream<Mention> { .following { user.onMentioned(callback: $0) } }
    /// The user's invitations.
    public func invites() -> AsyncStream<Invite> { .following { user.onInvited(callback: $0) } }
    /// The mutes and bans of the user, and their ends.
    public func restrictionChanges() -> AsyncStream<Restriction> {
        .following { user.onRestrictionChanged(callback: $0) }
    }
}

extension AsyncStream {
    /// Makes a sequence of the calls of a listener's closure. The listener ends with the sequence. At most 1000 elements
    /// wait for a slow reader; then the oldest are dropped.
    static func following(_ listen: (@escaping (Element) -> Void) -> any AutoCloseable) -> AsyncStream<Element>
    where Element: Sendable {
        let (stream, continuation) = makeStream(bufferingPolicy: .bufferingNewest(1000))
        let listener = listen { continuation.yield($0) }
        continuation.onTermination = { _ in listener.close() }
        return stream
    }
}
