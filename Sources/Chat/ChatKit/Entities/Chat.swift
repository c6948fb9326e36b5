public import ChatModel

/// The chat of one user: the entry point of the library.
///
/// ```swift
/// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
/// try await chat.channel("room.1").sendText("hello")
/// await chat.close()
/// ```
///
/// `ChatRemote` creates a chat on a gateway; `ChatKitInProcess` creates one on an engine in the program's own process.
/// Everything else is the same for both.
///
/// Every call may throw, in addition to the errors that its comment names: `.unauthorized` when the key or token is not
/// valid, `.forbidden` when it lacks the scope or the channel, `.tooMany` and `.overloaded` when the gateway is busy
/// (`retryAfter` says for how long), `.unavailable` when it cannot be reached, and `.outcomeUnknown` when the call may
/// have been carried out although no answer came. A key with the scope `manage` counts as a moderator of every channel.
public final class Chat: Sendable {
    let backend: any ChatBackend
    let states = ConnectionStates()
    let subscriptions = ActiveSubscriptions()
    let channelSubscriptions = ChannelSubscriptions()
    let delegates = Delegates()

    private let ownRecord: UserRecord

    /// Creates a chat on a backend. When this fails, it closes the backend. A user without a record gets one.
    ///
    /// - Throws: the errors of every call, as above; the backend is then closed.
    public init(_ backend: any ChatBackend) async throws(ChatError) {
        self.backend = backend
        do throws(ChatError) {
            ownRecord = try await backend.ownRecord()
        } catch {
            await backend.close()
            throw error
        }
    }

    /// Creates a chat on a backend without reading the user's record. The user gets no record.
    package init(withoutRecord backend: any ChatBackend) {
        self.backend = backend
        ownRecord = UserRecord(id: backend.user)
    }

    /// The id of the chat's user.
    public var userId: String { backend.user }

    /// The chat's user, as the record was when the chat was created.
    public var currentUser: User { User(chat: self, ownRecord) }

    /// Returns the same chat for another user. Closing either closes both.
    ///
    /// - Throws: `.malformed` for a bad name; as ``init(_:)``.
    public func acting(as user: String) async throws(ChatError) -> Chat {
        try Names.check(user: user)
        return try await Chat(backend.acting(as: user))
    }

    /// Closes the chat with all of its listeners and streams. Idempotent.
    public func close() async {
        await backend.close()
        states.close()
    }

    /// Returns a channel by its id, without reading its record. A channel needs no record.
    public func channel(_ id: String) -> Channel { Channel(chat: self, id: id) }

    /// Returns a user by its id, without reading the record.
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
            // The user's record was created by another device in the meantime, or the credential may not create
            // records. Neither is a reason to reject the user.
            guard error.code == .conflict || error.code == .forbidden else { throw error }
            return try await self.user(user) ?? UserRecord(id: user)
        }
    }
}

extension Chat {
    /// Blocks a user: the chat's user receives no further events from that user. A repeated call changes nothing.
    ///
    /// - Throws: `.invalid` for the chat's own user; the errors of every call.
    public func blockUser(_ user: User) async throws(ChatError) { try await backend.block(user.id) }

    /// Unblocks a user. Does nothing when the user was not blocked.
    ///
    /// - Throws: the errors of every call.
    public func unblockUser(_ user: User) async throws(ChatError) { try await backend.unblock(user.id) }

    /// Returns a page of the users whom the chat's user has blocked, ordered by id, without their records.
    ///
    /// - Throws: `.malformed` for a bad limit or page; the errors of every call.
    public func getBlockedUsers(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (users: [User], page: String?) {
        let found = try await backend.blocks(limit: limit, cursor: page)
        return (found.items.map { user($0) }, found.cursor)
    }
}

extension Chat {
    /// Returns a user, or nil when the user has no record.
    ///
    /// - Throws: `.malformed` for a bad name; the errors of every call.
    public func getUser(userId: String) async throws(ChatError) -> User? {
        try await backend.user(userId).map { User(chat: self, $0) }
    }

    /// Returns a page of the app's users.
    ///
    /// - Parameters:
    ///   - filter: an expression over fields: `name LIKE 'An*'`.
    ///   - sort: the order: `name:asc`, `updated_at:desc`.
    ///   - order: the direction of fields without one, and of the list without `sort`.
    ///   - after: leaves out what was created at this time or earlier.
    ///   - before: leaves out what was created at this time or later.
    /// - Throws: `.malformed` for a bad filter, order or page; the errors of every call.
    public func getUsers(
        filter: String? = nil, sort: [String] = [], order: ListOrder? = nil, after: Timetoken? = nil,
        before: Timetoken? = nil, limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (users: [User], page: String?) {
        let found = try await backend.users(
            RecordList(
                filter: filter, sort: sort, order: order, after: after, before: before, limit: limit, page: page))
        return (found.items.map { User(chat: self, $0) }, found.cursor)
    }

    /// Creates a user's record.
    ///
    /// - Throws: `.conflict` when the record exists already.
    public func createUser(
        id: String, name: String? = nil, externalId: String? = nil, profileUrl: String? = nil, email: String? = nil,
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil
    ) async throws(ChatError) -> User {
        let fields = try UserFields(
            name: name, externalId: externalId, profileUrl: profileUrl, email: email, custom: custom, status: status,
            type: type)
        return User(chat: self, try await backend.create(user: id, fields))
    }
}
