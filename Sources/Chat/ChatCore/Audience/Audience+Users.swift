import ChatModel

/// What an event's audience means to who is asked for by a credential of their own, but listens or reads as nobody.
extension Audience {
    /// Whether it is for anybody who may be on the channel.
    var isOpen: Bool {
        switch self {
        case .subscribers: true
        case .insiders, .webhooks, .wire: false
        case .rule(let rule, _): [.participants, .participantsButOrigin, .participantsAndSubjects].contains(rule)
        }
    }

    /// Whether it is for one user, or for some, whoever else is on the channel.
    var isPersonal: Bool {
        guard case .rule(let rule, _) = self else { return false }
        return [.user, .device, .mentioned, .mentionedButOrigin].contains(rule)
    }
}

extension Event {
    /// Whether a user may read it who may read its channel.
    func isReadable(by user: String) -> Bool {
        guard audience.isPersonal, case .rule(_, let subjects) = audience else { return true }
        return self.user.map { ExactText($0) == ExactText(user) } ?? false
            || subjects.contains { ExactText($0) == ExactText(user) }
    }
}
