public import ChatModel

/// A user of the app, with the values of the record when it was read.
public struct User: Sendable, Identifiable {
    public let chat: Chat
    public let id: String
    /// The name for display; nil for none.
    public let name: String?
    /// The user's id in another system.
    public let externalId: String?
    /// The address of the user's picture.
    public let profileUrl: String?
    /// The email address.
    public let email: String?
    /// The app's own data, a JSON object.
    public let custom: [String: any JSONCodable]
    /// A status that the app defines, as free text.
    public let status: String?
    /// A type that the app defines, as free text.
    public let type: String?
    /// The time of the last change; zero for a user without a record.
    public let updated: Timetoken
    /// The version of the record, for updates that require this version.
    public let eTag: String

    /// Creates a user from its record, for example in a test.
    public init(chat: Chat, _ record: UserRecord) {
        self.chat = chat
        id = record.id
        name = record.name
        externalId = record.externalID
        profileUrl = record.profileURL
        email = record.email
        custom = record.custom.map { AnyJSON($0).members } ?? [:]
        status = record.status
        type = record.type
        updated = record.updated
        eTag = record.etag
    }

    /// The time at which the user was last active, in milliseconds since 1970; nil when it is not known. PubNub's Chat
    /// SDKs store this time in `custom.lastActiveTimestamp`.
    public var lastActiveTimestamp: Double? {
        switch custom["lastActiveTimestamp"]?.json {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }

    /// The user's events as sequences. For each sequence there is also an `on…` method with a closure.
    public var stream: UserStreams { UserStreams(user: self) }
}

extension User {
    /// Changes the given fields. Returns the changed user. A nil field does not change.
    ///
    /// - Throws: `.notFound` when the user has no record; `.forbidden` when this is not the chat's user; `.malformed`
    ///   or `.tooLarge` for an invalid field; the errors common to all calls (see ``Chat``).
    public func update(
        name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil
    ) async throws(ChatError) -> User {
        let fields = try UserFields(
            name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom, status: status,
            type: type)
        return User(chat: chat, try await chat.backend.update(user: id, fields, eTag: nil))
    }

    /// Deletes the user's record, but not the user's messages.
    ///
    /// - Throws: `.forbidden` when this is not the chat's user; the errors common to all calls (see ``Chat``).
    public func delete() async throws(ChatError) { try await chat.backend.delete(user: id) }

    /// Returns a page of the user's memberships.
    ///
    /// - Throws: `.forbidden` for another user than the chat's user, unless the chat has an API key; `.malformed` for
    ///   an invalid filter, order or page; the errors common to all calls (see ``Chat``).
    public func getMemberships(
        limit: Int = 50, page: String? = nil, filter: String? = nil, sort: [String] = [], order: ListOrder? = nil,
        after: Timetoken? = nil, before: Timetoken? = nil
    ) async throws(ChatError) -> (memberships: [Membership], page: String?) {
        let list = RecordList(
            filter: filter, sort: sort, order: order, after: after, before: before, limit: limit, page: page)
        let found = try await chat.backend.memberships(of: id, list)
        return (found.items.map { Membership(chat: chat, $0) }, found.cursor)
    }
}

extension UserFields {
    init(
        name: String?, externalId: String?, profileUrl: String?, email: String?, custom: [String: any JSONCodable]?,
        status: String?, type: String?
    ) throws(ChatError) {
        self.init()
        self.name = name
        externalID = externalId
        profileURL = profileUrl
        self.email = email
        self.custom = try custom?.encodedObject()
        self.status = status
        self.type = type
    }
}

extension RecordList {
    init(
        filter: String?, sort: [String], order: ListOrder?, after: Timetoken?, before: Timetoken?, limit: Int,
        page: String?
    ) {
        self.init()
        self.order = order
        self.after = after
        self.before = before
        self.filter = filter
        self.sort = sort
        self.limit = limit
        cursor = page
    }
}
