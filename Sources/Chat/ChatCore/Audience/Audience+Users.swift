import ChatModel

/// Checks of an event's audience for a reader that has the rights of a user but is not the stream of a user's device,
/// for example a reader of the history.
extension Audience {
    /// True when the event is for everyone who may read the channel.
    var isOpen: Bool {
        switch self {
        case .subscribers: true
        case .insiders, .webhooks, .wire: false
        case .rule(let rule, _): [.participants, .participantsButOrigin, .participantsAndSubjects].contains(rule)
        }
    }

    /// True when the event is only for one user or for certain users.
    var isPersonal: Bool {
        guard case .rule(let rule, _) = self else { return false }
        return [.user, .device, .mentioned, .mentionedButOrigin].contains(rule)
    }
}

extension Event {
    /// Returns true when a user who may read the event's channel may also read the event.
    func isReadable(by user: String) -> Bool {
        guard audience.isPersonal, case .rule(_, let subjects) = audience else { return true }
        return self.user.map { ExactText($0) == ExactText(user) } ?? false
            || subjects.contains { ExactText($0) == ExactText(user) }
    }
}
