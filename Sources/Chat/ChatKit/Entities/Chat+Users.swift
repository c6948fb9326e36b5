public import ChatModel

extension Chat {
    /// A user's record; nil when there is none.
    public func getUser(userId: String) async throws(ChatError) -> User? {
        try await backend.user(userId).map { User(chat: self, $0) }
    }

    /// Users of the app, a page at a time.
    ///
    /// - Parameters:
    ///   - filter: an expression over fields: `name LIKE 'An*'`.
    ///   - sort: `name:asc`, `updated_at:desc`.
    public func getUsers(
        filter: String? = nil, sort: [String] = [], limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (users: [User], page: String?) {
        let found = try await backend.users(RecordList(filter: filter, sort: sort, limit: limit, page: page))
        return (found.items.map { User(chat: self, $0) }, found.cursor)
    }

    /// Makes a user's record.
    ///
    /// - Throws: `.conflict` when there is one.
    public func createUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil
    ) async throws(ChatError) -> User {
        let fields = UserFields(
            name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom, status: status,
            type: type)
        return User(chat: self, try await backend.create(user: id, fields))
    }
}
