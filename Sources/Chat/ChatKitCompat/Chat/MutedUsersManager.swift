import Locking

/// The users whose messages and events a chat leaves out, for as long as the chat exists. To store such a list for all
/// devices of a user, block the users at the gateway.
///
/// Left out are their messages and custom events in listeners, and their messages and events in histories.
public final class MutedUsersManager: Sendable {
    private let users = Lock<Set<String>>([])

    /// The ids of the muted users.
    public var mutedUsers: Set<String> { users.withLock { $0 } }

    /// Mutes a user.
    public func muteUser(userId: String) async throws { users.withLock { _ = $0.insert(userId) } }

    /// Mutes a user.
    public func muteUser(userId: String, completion: ChatCompletion<Void>? = nil) {
        users.withLock { _ = $0.insert(userId) }
        completion?(.success(()))
    }

    /// Ends the muting of a user. Does nothing for a user who is not muted.
    public func unmuteUser(userId: String) async throws { users.withLock { _ = $0.remove(userId) } }

    /// Ends the muting of a user. Does nothing for a user who is not muted.
    public func unmuteUser(userId: String, completion: ChatCompletion<Void>? = nil) {
        users.withLock { _ = $0.remove(userId) }
        completion?(.success(()))
    }

    func isMuted(_ user: String) -> Bool { users.withLock { $0.contains(user) } }
}
