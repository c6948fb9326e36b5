public import ChatModel

/// The chat of one user: where everything begins.
///
/// ```swift
/// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
/// try await chat.channel("room.1").sendText("hello")
/// await chat.close()
/// ```
///
/// `ChatRemote` makes one on a gateway, `ChatKitInProcess` one on an engine in the program's own process. Everything else
/// is the same for both.
public final class Chat: Sendable {
    let backend: any ChatBackend
    let states = ConnectionStates()
    let subscriptions = ActiveSubscriptions()
    let delegates = Delegates()

    private let ownRecord: UserRecord

    /// A chat over any backend, which it closes when this fails. A user without a record gets one.
    public init(_ backend: any ChatBackend) async throws(ChatError) {
        self.backend = backend
        do throws(ChatError) {
            ownRecord = try await backend.ownRecord()
        } catch {
            await backend.close()
            throw error
        }
    }

    /// The id of the user whose chat it is.
    public var userId: String { backend.user }

    /// The user whose chat it is, as it was when the chat began.
    public var currentUser: User { User(chat: self, ownRecord) }

    /// The same chat as another user has it. Closing either closes both.
    public func acting(as user: String) async throws(ChatError) -> Chat {
        try Names.check(user: user)
        return try await Chat(backend.acting(as: user))
    }

    /// Ends every listener and stream, and the chat itself. Idempotent.
    public func close() async {
        await backend.close()
        states.close()
    }

    /// A channel by its id, without asking whether it has a record: a channel exists by being used.
    public func channel(_ id: String) -> Channel { Channel(chat: self, id: id) }

    /// A user by its id, without asking whether it has a record.
    public func user(_ id: String) -> User { User(chat: self, UserRecord(id: id)) }

    /// Calls back when the connection of the chat's listeners is made, lost, made again, or cannot be made.
    public func onConnectionStateChange(
        _ callback: @escaping @Sendable (ConnectionState) -> Void
    ) -> AutoCloseable {
        let states = states.follow()
        return AutoCloseable(nil) {
            for await state in states { callback(state) }
        }
    }
}

extension ChatBackend {
    fileprivate func ownRecord() async throws(ChatError) -> UserRecord {
        if let record = try await self.user(user) { return record }
        do throws(ChatError) {
            return try await create(user: user, UserFields())
        } catch {
            // Made by another device of the user in this moment; or a credential that may not make records, which is no
            // reason to keep its user out.
            guard error.code == .conflict || error.code == .forbidden else { throw error }
            return try await self.user(user) ?? UserRecord(id: user)
        }
    }
}

extension Chat {
    /// The user hears nothing of another one from now on; once more changes nothing.
    public func blockUser(_ user: User) async throws(ChatError) { try await backend.block(user.id) }

    /// Ends that; nothing happens when the user was not blocked.
    public func unblockUser(_ user: User) async throws(ChatError) { try await backend.unblock(user.id) }

    /// Whom the user has blocked, by name, without their records, a page at a time.
    public func getBlockedUsers(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (users: [User], page: String?) {
        let found = try await backend.blocks(limit: limit, cursor: page)
        return (found.items.map { user($0) }, found.cursor)
    }
}

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
