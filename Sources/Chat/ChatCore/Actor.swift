import ChatModel

/// Who does something, and with what authority.
struct Actor: Sendable {
    /// Nil: an operator of the app, or a program of its own.
    let user: String?
    /// Whether the credential may do everything in the app: what it names somebody for is not held against that user's
    /// rights.
    let isManager: Bool

    /// Users may do what concerns themselves; what concerns others, their channel's operators.
    /// - Throws: `.forbidden`, slug `not_operator`.
    func demand(over user: String, in channel: ChannelRecord?) throws(ChatError) {
        guard !isManager, self.user.map({ ExactText($0) != ExactText(user) }) ?? true else { return }
        try demandOperator(of: channel)
    }

    /// - Throws: `.forbidden`, slug `not_operator`.
    func demandOperator(of channel: ChannelRecord?) throws(ChatError) {
        if isManager { return }
        guard let user, let channel, channel.operators.contains(where: { ExactText($0) == ExactText(user) }) else {
            throw ChatError(
                .forbidden, "only an operator of the channel, or a credential with the scope 'manage', may do this",
                slug: "not_operator")
        }
    }
}

extension ChatAccess {
    /// Who acts: the credential's own user, or the one the request names.
    ///
    /// - Throws: `.forbidden` when the credential speaks for somebody else, or may neither emit nor manage; `.malformed`
    ///   when it may only emit and names nobody.
    func actor(_ named: String?) throws(ChatError) -> Actor {
        if let named {
            do throws(ChatError) { try Names.check(user: named) } catch { throw error.about("by") }
        }
        if let own = caller.user {
            guard named.map({ ExactText($0) == ExactText(own) }) ?? true else {
                throw ChatError(.forbidden, "this credential speaks for user '\(own)' only")
            }
            try caller.demand(.emit)
            return Actor(user: own, isManager: false)
        }
        if caller.scopes.allow(.manage) { return Actor(user: named, isManager: true) }
        try caller.demand(.emit)
        guard let named else {
            throw ChatError(
                .malformed, "name the user who does this, or use a credential with the scope 'manage'",
                slug: "member_missing", field: "")
        }
        return Actor(user: named, isManager: false)
    }
}
