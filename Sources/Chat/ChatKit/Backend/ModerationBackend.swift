public import ChatModel

/// What moderators of a ``ChatBackend`` do, and what each user keeps away.
public protocol ModerationBackend: Sendable {
    /// Puts a restriction upon a user in the place of what was; neither ban nor mute lifts it.
    ///
    /// - Parameter until: when it ends by itself; nil: it does not.
    func restrict(
        _ user: String, in channel: String, ban: Bool, mute: Bool, reason: String?, until: Timetoken?
    ) async throws(ChatError)
    /// Nil when there is none.
    func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord?
    func restrictions(
        in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord>
    func restrictions(of user: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<RestrictionRecord>
    /// Lets only moderators write, or everybody again.
    func freeze(_ channel: String, _ isFrozen: Bool) async throws(ChatError)
    /// Makes a user a moderator, or one no more.
    func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError)

    /// The backend's user hears nothing of the other from now on.
    func block(_ user: String) async throws(ChatError)
    func unblock(_ user: String) async throws(ChatError)
    /// Whom the backend's user has blocked.
    func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}
