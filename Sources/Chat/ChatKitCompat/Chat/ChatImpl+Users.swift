import ChatKit
import ChatModel
import ChatRemote

/// A page of users. `page` is the position of the next page, or nil on the last page.
public typealias ChatUsersPage = (users: [UserImpl], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Creates a user's record.
    ///
    /// - Parameters:
    ///   - id: the id of the user.
    ///   - name: the name for display; nil for none.
    ///   - externalId: the user's id in another system; nil for none.
    ///   - profileUrl: the address of the user's picture; nil for none.
    ///   - email: the email address; nil for none.
    ///   - custom: the app's own fields; nil for none.
    ///   - status: a status, as free text; nil for none.
    ///   - type: a type, as free text; nil for none.
    /// - Throws: `forbidden` for another user than the chat's user, unless the chat has an API key; `conflict` when the
    ///   user already has a record; `badRequest` or `messageTooLong` for an invalid field; the errors common to all
    ///   calls (see ``ChatImpl``).
    public func createUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        let fields = UserFields(name, externalId, profileUrl, email, custom, status, type)
        return try await withBackend { UserImpl(self, try await $0.create(user: id, fields)) }
    }

    /// Creates a user's record; see ``createUser(id:name:externalId:profileUrl:email:custom:status:type:)``.
    ///
    /// - Parameter completion: receives the user.
    public func createUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil,
        completion: ChatCompletion<UserImpl>? = nil
    ) {
        run(completion) {
            try await self.createUser(
                id: id, name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom,
                status: status, type: type)
        }
    }

    /// Returns a user, or nil when the user has no record.
    ///
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func getUser(userId: String) async throws -> UserImpl? {
        try await withBackend { try await $0.user(userId).map { UserImpl(self, $0) } }
    }

    /// Reads a user; nil when the user has no record.
    ///
    /// - Parameter completion: receives the user; nil when the user has no record.
    public func getUser(userId: String, completion: ChatCompletion<UserImpl?>? = nil) {
        run(completion) { try await self.getUser(userId: userId) }
    }

    /// Returns a page of the users that have a record.
    ///
    /// - Parameters:
    ///   - filter: a filter expression, such as `name LIKE 'An*'`; nil selects all users.
    ///   - sort: the sort fields, the most significant first; empty selects the gateway's default order.
    ///   - limit: the maximum number of users, 1 to 250; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    /// - Throws: `malformedFilterExpression` for an invalid filter; `badRequest` for an invalid limit, page or sort
    ///   field; the errors common to all calls (see ``ChatImpl``).
    public func getUsers(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil
    ) async throws -> ChatUsersPage {
        try await withBackend { backend in
            let found = try await backend.users(RecordList(filter, sort, limit, page))
            return (found.items.map { UserImpl(self, $0) }, found.next)
        }
    }

    /// Reads a page of the users that have a record; see ``getUsers(filter:sort:limit:page:)``.
    ///
    /// - Parameter completion: receives the page of the users that have a record.
    public func getUsers(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatUsersPage>? = nil
    ) {
        run(completion) { try await self.getUsers(filter: filter, sort: sort, limit: limit, page: page) }
    }

    /// Changes the given fields of a user. A nil field does not change.
    ///
    /// - Parameter custom: the new value of the app's own fields, which replaces all of them.
    /// - Returns: the changed user.
    /// - Throws: `resourceNotFound` when the user has no record; `forbidden` for another user than the chat's user,
    ///   unless the chat has an API key; `badRequest` or `messageTooLong` for an invalid field; the errors common to
    ///   all calls (see ``ChatImpl``).
    public func updateUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        let fields = UserFields(name, externalId, profileUrl, email, custom, status, type)
        return try await withBackend { UserImpl(self, try await $0.update(user: id, fields, eTag: nil)) }
    }

    /// Changes the given fields of a user; see ``updateUser(id:name:externalId:profileUrl:email:custom:status:type:)``.
    ///
    /// - Parameter completion: receives the changed user.
    public func updateUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil,
        completion: ChatCompletion<UserImpl>? = nil
    ) {
        run(completion) {
            try await self.updateUser(
                id: id, name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom,
                status: status, type: type)
        }
    }

    /// Deletes a user's record, but not the user's messages. Does nothing when the user has no record.
    ///
    /// - Throws: `forbidden` for another user than the chat's user, unless the chat has an API key; the errors common
    ///   to all calls (see ``ChatImpl``).
    public func deleteUser(id: String) async throws { try await withBackend { try await $0.delete(user: id) } }

    /// Deletes a user's record, but not the user's messages. Does nothing when the user has no record.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func deleteUser(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.deleteUser(id: id) }
    }

    /// Returns users whose name begins with a text, sorted by name.
    ///
    /// - Parameters:
    ///   - text: the beginning of the name; a leading `@` is ignored.
    ///   - limit: the maximum number of users, 1 to 250.
    /// - Throws: `badRequest` for an invalid limit; the errors common to all calls (see ``ChatImpl``).
    public func getUserSuggestions(text: String, limit: Int = 10) async throws -> [UserImpl] {
        try await getUsers(
            filter: "name LIKE \(prefixPattern(text, without: "@"))", sort: [.init(property: .name)], limit: limit
        ).users
    }

    /// Reads users whose name begins with a text; see ``getUserSuggestions(text:limit:)``.
    ///
    /// - Parameter completion: receives the users whose name begins with a text.
    public func getUserSuggestions(text: String, limit: Int = 10, completion: ChatCompletion<[UserImpl]>? = nil) {
        run(completion) { try await self.getUserSuggestions(text: text, limit: limit) }
    }

    /// Returns the ids of the channels in which a user is present.
    ///
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func wherePresent(userId: String) async throws -> [String] {
        try await withBackend { try await $0.presentChannels(of: userId) }
    }

    /// Reads the ids of the channels in which a user is present.
    ///
    /// - Parameter completion: receives the ids of the channels in which a user is present.
    public func wherePresent(userId: String, completion: ChatCompletion<[String]>? = nil) {
        run(completion) { try await self.wherePresent(userId: userId) }
    }

    /// Returns true when a user is present in a channel.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func isPresent(userId: String, channelId: String) async throws -> Bool {
        try await withBackend { try await $0.presence(of: userId, in: channelId) != nil }
    }

    /// Reads whether a user is present in a channel.
    ///
    /// - Parameter completion: receives true when a user is present in a channel.
    public func isPresent(userId: String, channelId: String, completion: ChatCompletion<Bool>? = nil) {
        run(completion) { try await self.isPresent(userId: userId, channelId: channelId) }
    }

    /// Returns the ids of the users who are present in a channel, in ascending order.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of ids.
    ///   - offset: the number of ids to skip; nil selects 0.
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func whoIsPresent(channelId: String, limit: Int = 1000, offset: Int? = 0) async throws -> [String] {
        let start = max(offset ?? 0, 0)
        return try await withBackend { backend in
            var users: [String] = []
            var cursor: String?
            repeat {
                let page = try await backend.present(in: channelId, limit: 250, cursor: cursor)
                users += page.items.map(\.userId)
                cursor = users.count < start + max(limit, 0) ? page.cursor : nil
            } while cursor != nil
            return Array(users.dropFirst(start).prefix(max(limit, 0)))
        }
    }

    /// Reads the ids of the users who are present in a channel; see ``whoIsPresent(channelId:limit:offset:)``.
    ///
    /// - Parameter completion: receives the ids of the users who are present in a channel.
    public func whoIsPresent(
        channelId: String, limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String]>? = nil
    ) {
        run(completion) { try await self.whoIsPresent(channelId: channelId, limit: limit, offset: offset) }
    }
}

/// Returns the pattern for the filter operator `LIKE` that selects texts with a given beginning.
///
/// - Parameters:
///   - text: the beginning.
///   - sign: a character that is removed from the start of `text`.
func prefixPattern(_ text: String, without sign: Character) -> String {
    let name = text.first == sign ? text.dropFirst() : text[...]
    let escaped = name.reduce(into: "") { escaped, character in
        if "'\\*".contains(character) { escaped.append("\\") }
        escaped.append(character)
    }
    return "'\(escaped)*'"
}

extension UserFields {
    fileprivate init(
        _ name: String?, _ externalId: String?, _ profileUrl: String?, _ email: String?,
        _ custom: [String: any JSONCodableScalar]?, _ status: String?, _ type: String?
    ) {
        self.init()
        self.name = name
        externalID = externalId
        profileURL = profileUrl
        self.email = email
        self.custom = custom?.mapValues(\.scalarValue).object
        self.status = status
        self.type = type
    }
}
