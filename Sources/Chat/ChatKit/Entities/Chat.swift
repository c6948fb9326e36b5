public import ChatModel

/// The chat of one user: the entry point of the library.
///
/// ```swift
/// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
/// try await chat.channel("room.1").sendText("hello")
/// await chat.close()
/// ```
///
/// `ChatRemote` creates a chat that uses a gateway. `ChatKitInProcess` creates a chat that uses an engine in the
/// program's own process. All other calls are the same for both.
///
/// In addition to the errors in its documentation, every call may throw: `.unauthorized` when the key or token is not
/// valid; `.forbidden` when the key or token lacks the scope or has no access to the channel; `.tooMany` and
/// `.overloaded` when the gateway is busy (`retryAfter` is the time to wait); `.unavailable` when the gateway cannot be
/// reached; `.outcomeUnknown` when no response came and the operation may have been carried out.
///
/// A user with a key of the scope `manage` counts as a moderator of every channel.
public final class Chat: Sendable {
    let backend: any ChatBackend
    let states = ConnectionStates()
    let subscriptions = ActiveSubscriptions()
    let channelSubscriptions = ChannelSubscriptions()
    let delegates = Delegates()

    private let ownRecord: UserRecord

    /// Creates a chat that uses a backend. Creates a record for the user if the user has none.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``). After an error, the backend is closed.
    public init(_ backend: any ChatBackend) async throws(ChatError) {
        self.backend = backend
        do throws(ChatError) {
            ownRecord = try await backend.ownRecord()
        } catch {
            await backend.close()
            throw error
        }
    }

    /// Creates a chat that uses a backend, without reading or creating the user's record.
    package init(withoutRecord backend: any ChatBackend) {
        self.backend = backend
        ownRecord = UserRecord(id: backend.user)
    }

    /// The id of the chat's user.
    public var userId: String { backend.user }

    /// The chat's user, with the record as it was when the chat was created.
    public var currentUser: User { User(chat: self, ownRecord) }

    /// Returns a chat for another user with the same backend. Closing one of the two chats also closes the other.
    ///
    /// - Throws: `.malformed` for an invalid name; the errors common to all calls.
    public func acting(as user: String) async throws(ChatError) -> Chat {
        try Names.check(user: user)
        return try await Chat(backend.acting(as: user))
    }

    /// Closes the chat with all of its listeners and streams. Idempotent.
    public func close() async {
        await backend.close()
        states.close()
    }

    /// Returns a channel by its id, without reading its record. The channel need not have a record.
    public func channel(_ id: String) -> Channel { Channel(chat: self, id: id) }

    /// Returns a user by its id, without reading the record.
    public func user(_ id: String) -> User { User(chat: self, UserRecord(id: id)) }

    /// Calls `callback` when the connection of the chat's listeners is made, lost, restored, or cannot be made.
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
            // Another device has created the user's record in the meantime, or the credential may not create records.
            // The chat can be used in both cases.
            guard error.code == .conflict || error.code == .forbidden else { throw error }
            return try await self.user(user) ?? UserRecord(id: user)
        }
    }
}

extension Chat {
    /// Blocks a user: the chat's user receives no further events from that user. Does nothing when the user is already
    /// blocked.
    ///
    /// - Throws: `.invalid` for the chat's own user; the errors common to all calls.
    public func blockUser(_ user: User) async throws(ChatError) { try await backend.block(user.id) }

    /// Unblocks a user. Does nothing when the user was not blocked.
    ///
    /// - Throws: the errors common to all calls.
    public func unblockUser(_ user: User) async throws(ChatError) { try await backend.unblock(user.id) }

    /// Returns a page of the users whom the chat's user has blocked, ordered by id, without their records.
    ///
    /// - Throws: `.malformed` for an invalid limit or page; the errors common to all calls.
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
    /// - Throws: `.malformed` for an invalid name; the errors common to all calls.
    public func getUser(userId: String) async throws(ChatError) -> User? {
        try await backend.user(userId).map { User(chat: self, $0) }
    }

    /// Returns a page of the app's users.
    ///
    /// - Parameters:
    ///   - filter: an expression over the fields of the records, such as `name LIKE 'An*'`.
    ///   - sort: the fields to sort by, such as `name:asc` or `updated_at:desc`.
    ///   - order: the direction for fields of `sort` without `:asc` or `:desc`, and for the list when `sort` is empty;
    ///     nil selects the default.
    ///   - after: the lower bound of the time of creation, exclusive; nil for no bound.
    ///   - before: the upper bound of the time of creation, exclusive; nil for no bound.
    /// - Throws: `.malformed` for an invalid filter, order or page; the errors common to all calls.
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
    /// - Throws: `.conflict` when the record already exists.
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
