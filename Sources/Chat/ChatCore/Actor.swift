import ChatModel

/// The user or program that performs an operation, and its authority.
struct Actor: Sendable {
    /// The acting user; nil for an operator or a program of the app.
    let user: String?
    /// True when the credential has the scope `manage` and does not belong to a user. A manager may do what an operator
    /// of a channel may do.
    let isManager: Bool

    /// Checks that the actor may act on a user. Every user may act on themselves; an operator of the channel and a
    /// manager may act on any user.
    ///
    /// - Throws: `.forbidden` with the slug `not_operator`.
    func require(over user: String, in channel: ChannelRecord?) throws(ChatError) {
        guard !isManager, self.user.map({ ExactText($0) != ExactText(user) }) ?? true else { return }
        try requireOperator(of: channel)
    }

    /// Checks that the actor is an operator of the channel or a manager.
    ///
    /// - Throws: `.forbidden` with the slug `not_operator`.
    func requireOperator(of channel: ChannelRecord?) throws(ChatError) {
        if isManager { return }
        guard let user, let channel, channel.operators.contains(where: { ExactText($0) == ExactText(user) }) else {
            throw ChatError(
                .forbidden,
                "only an operator of the channel, or a credential with the scope 'manage', may make this request",
                slug: "not_operator")
        }
    }
}

extension ChatAccess {
    /// Returns the actor of a request: the user of the credential, or the user that the request names.
    ///
    /// - Parameter field: the name of the request's field for the user, for errors; see `ChatError.field`.
    /// - Throws: `.forbidden` when the credential belongs to another user, or has neither of the scopes `emit` and
    ///   `manage`; `.malformed` for a bad name, or when a credential without the scope `manage` names no user.
    func actor(_ named: String?, field: String = "by") throws(ChatError) -> Actor {
        if let named {
            do throws(ChatError) { try Names.check(user: named) } catch { throw error.about(field) }
        }
        if let own = caller.user {
            guard named.map({ ExactText($0) == ExactText(own) }) ?? true else {
                throw ChatError(.forbidden, "this credential may act for user '\(own)' only")
            }
            try caller.require(.emit)
            return Actor(user: own, isManager: false)
        }
        if caller.scopes.allow(.manage) { return Actor(user: named, isManager: true) }
        try caller.require(.emit)
        guard let named else {
            throw ChatError(
                .malformed, "a credential without the scope 'manage' must name the acting user",
                slug: "member_missing", field: field)
        }
        return Actor(user: named, isManager: false)
    }
}
