import ChatModel

/// The user or program that performs an operation, and its authority.
struct Actor: Sendable {
    /// The acting user; nil for an operator of the app, or one of its own programs.
    let user: String?
    /// True when the credential may do everything in the app. When it acts on behalf of a user, that user's
    /// restrictions do not apply.
    let isManager: Bool

    /// Checks that the actor may act on a user: users may act on themselves, and operators of the channel on others.
    ///
    /// - Throws: `.forbidden`, slug `not_operator`.
    func require(over user: String, in channel: ChannelRecord?) throws(ChatError) {
        guard !isManager, self.user.map({ ExactText($0) != ExactText(user) }) ?? true else { return }
        try requireOperator(of: channel)
    }

    /// Checks that the actor is an operator of the channel or a manager.
    ///
    /// - Throws: `.forbidden`, slug `not_operator`.
    func requireOperator(of channel: ChannelRecord?) throws(ChatError) {
        if isManager { return }
        guard let user, let channel, channel.operators.contains(where: { ExactText($0) == ExactText(user) }) else {
            throw ChatError(
                .forbidden, "only an operator of the channel, or a credential with the scope 'manage', may do this",
                slug: "not_operator")
        }
    }
}

extension ChatAccess {
    /// Returns the actor: the credential's own user, or the user that the request names.
    ///
    /// - Parameter field: the name of the user in the native API; see `ChatError.field`.
    /// - Throws: `.forbidden` when the credential speaks for another user, or may neither emit nor manage; `.malformed`
    ///   when it may only emit and names no user.
    func actor(_ named: String?, field: String = "by") throws(ChatError) -> Actor {
        if let named {
            do throws(ChatError) { try Names.check(user: named) } catch { throw error.about(field) }
        }
        if let own = caller.user {
            guard named.map({ ExactText($0) == ExactText(own) }) ?? true else {
                throw ChatError(.forbidden, "this credential speaks for user '\(own)' only")
            }
            try caller.require(.emit)
            return Actor(user: own, isManager: false)
        }
        if caller.scopes.allow(.manage) { return Actor(user: named, isManager: true) }
        try caller.require(.emit)
        guard let named else {
            throw ChatError(
                .malformed, "the acting user is required from a credential without the scope 'manage'",
                slug: "member_missing", field: field)
        }
        return Actor(user: named, isManager: false)
    }
}
