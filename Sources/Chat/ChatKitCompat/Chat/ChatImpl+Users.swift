import ChatKit
import ChatModel
import ChatRemote

/// A page of users, and the position of the next page while there are more.
public typealias ChatUsersPage = (users: [UserImpl], page: (any PubNubHashedPage)?)

extension ChatImpl {
    /// Creates a user's record. Fails with `conflict` when it exists already.
    public func createUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        let fields = UserFields(name, externalId, profileUrl, email, custom, status, type)
        return try await withBackend { UserImpl(self, try await $0.create(user: id, fields)) }
    }

    /// Creates a user's record. Fails with `conflict` when it exists already.
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

    /// Returns a user; nil when the user has no record.
    public func getUser(userId: String) async throws -> UserImpl? {
        try await withBackend { try await $0.user(userId).map { UserImpl(self, $0) } }
    }

    /// Reads a user; nil when the user has no record.
    public func getUser(userId: String, completion: ChatCompletion<UserImpl?>? = nil) {
        run(completion) { try await self.getUser(userId: userId) }
    }

    /// Returns a page of the users that have a record.
    ///
    /// - Parameters:
    ///   - filter: an expression over fields: `name LIKE 'An*'`.
    ///   - limit: the maximum number of users, 1 to 250; 100 if nil.
    public func getUsers(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil
    ) async throws -> ChatUsersPage {
        try await withBackend { backend in
            let found = try await backend.users(RecordList(filter, sort, limit, page))
            return (found.items.map { UserImpl(self, $0) }, found.next)
        }
    }

    /// Reads a page of the users that have a record.
    public func getUsers(
        filter: String? = nil, sort: [PubNub.ObjectSortField] = [], limit: Int? = nil,
        page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatUsersPage>? = nil
    ) {
        run(completion) { try await self.getUsers(filter: filter, sort: sort, limit: limit, page: page) }
    }

    /// Changes the given fields of a user, keeps the others, and returns the changed user.
    public func updateUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, status: String? = nil, type: String? = nil
    ) async throws -> UserImpl {
        let fields = UserFields(name, externalId, profileUrl, email, custom, status, type)
        return try await withBackend { UserImpl(self, try await $0.update(user: id, fields, eTag: nil)) }
    }

    /// Changes the given fields of a user and keeps the others.
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

    /// Deletes a user's record. The user's messages stay.
    public func deleteUser(id: String) async throws { try await withBackend { try await $0.delete(user: id) } }

    /// Deletes a user's record. The user's messages stay.
    public func deleteUser(id: String, completion: ChatCompletion<Void>? = nil) {
        run(completion) { try await self.deleteUser(id: id) }
    }

    /// Returns users whose name begins with a text.
    ///
    /// - Parameters:
    ///   - text: the beginning; a leading `@` is ignored.
    ///   - limit: the maximum number of users, 1 to 250.
    public func getUserSuggestions(text: String, limit: Int = 10) async throws -> [UserImpl] {
        try await getUsers(
            filter: "name LIKE \(prefixPattern(text, without: "@"))", sort: [.init(property: .name)], limit: limit
        ).users
    }

    /// Reads users whose name begins with a text.
    public func getUserSuggestions(text: String, limit: Int = 10, completion: ChatCompletion<[UserImpl]>? = nil) {
        run(completion) { try await self.getUserSuggestions(text: text, limit: limit) }
    }

    /// Returns the ids of the channels in which a user is present.
    public func wherePresent(userId: String) async throws -> [String] {
        try await withBackend { try await $0.presentChannels(of: userId) }
    }

    /// Reads the ids of the channels in which a user is present.
    public func wherePresent(userId: String, completion: ChatCompletion<[String]>? = nil) {
        run(completion) { try await self.wherePresent(userId: userId) }
    }

    /// Returns true when a user is present in a channel.
    public func isPresent(userId: String, channelId: String) async throws -> Bool {
        try await withBackend { try await $0.presence(of: userId, in: channelId) != nil }
    }

    /// Reads whether a user is present in a channel.
    public func isPresent(userId: String, channelId: String, completion: ChatCompletion<Bool>? = nil) {
        run(completion) { try await self.isPresent(userId: userId, channelId: channelId) }
    }

    /// Returns the ids of the users who are present in a channel, ordered by id.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of ids.
    ///   - offset: the number of ids to leave out at the beginning.
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

    /// Reads the ids of the users who are present in a channel, ordered by id.
    public func whoIsPresent(
        channelId: String, limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String]>? = nil
    ) {
        run(completion) { try await self.whoIsPresent(channelId: channelId, limit: limit, offset: offset) }
    }
}

/// The operand of `LIKE` for texts that begin with a text.
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
