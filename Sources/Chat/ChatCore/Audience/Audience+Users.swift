import ChatModel

/// The meaning of an event's audience for a reader whose rights are a user's, but who listens or reads without a
/// `Viewer`.
extension Audience {
    /// True when the event is for anyone who may read the channel.
    var isOpen: Bool {
        switch self {
        case .subscribers: true
        case .insiders, .webhooks, .wire: false
        case .rule(let rule, _): [.participants, .participantsButOrigin, .participantsAndSubjects].contains(rule)
        }
    }

    /// True when the event is for one user or a few users only, no matter who else is on the channel.
    var isPersonal: Bool {
        guard case .rule(let rule, _) = self else { return false }
        return [.user, .device, .mentioned, .mentionedButOrigin].contains(rule)
    }
}

extension Event {
    /// True when a user who may read the event's channel may also read the event.
    func isReadable(by user: String) -> Bool {
        guard audience.isPersonal, case .rule(_, let subjects) = audience else { return true }
        return self.user.map { ExactText($0) == ExactText(user) } ?? false
            || subjects.contains { ExactText($0) == ExactText(user) }
    }
}
