import Locking

/// The list of users whom a chat mutes. The list exists only while the chat exists. To store a list for all devices of
/// a user, block the users at the gateway instead.
///
/// The following omit messages and events of muted users: the listeners for messages and custom events,
/// ``ChatImpl/listenForEvents(type:channelId:customMethod:callback:)``,
/// ``ChannelImpl/getHistory(startTimetoken:endTimetoken:count:)`` and
/// ``ChatImpl/getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
public final class MutedUsersManager: Sendable {
    private let users = Lock<Set<String>>([])

    /// The ids of the muted users.
    public var mutedUsers: Set<String> { users.withLock { $0 } }

    /// Mutes a user. Does nothing for a user who is already muted.
    ///
    /// - Throws: never. PubNub's SDK declares the call as throwing.
    public func muteUser(userId: String) async throws { users.withLock { _ = $0.insert(userId) } }

    /// Mutes a user. Does nothing for a user who is already muted.
    ///
    /// - Parameter completion: called before this call returns, on the caller's thread.
    public func muteUser(userId: String, completion: ChatCompletion<Void>? = nil) {
        users.withLock { _ = $0.insert(userId) }
        completion?(.success(()))
    }

    /// Unmutes a user. Does nothing for a user who is not muted.
    ///
    /// - Throws: never. PubNub's SDK declares the call as throwing.
    public func unmuteUser(userId: String) async throws { users.withLock { _ = $0.remove(userId) } }

    /// Unmutes a user. Does nothing for a user who is not muted.
    ///
    /// - Parameter completion: called before this call returns, on the caller's thread.
    public func unmuteUser(userId: String, completion: ChatCompletion<Void>? = nil) {
        users.withLock { _ = $0.remove(userId) }
        completion?(.success(()))
    }

    func isMuted(_ user: String) -> Bool { users.withLock { $0.contains(user) } }
}
