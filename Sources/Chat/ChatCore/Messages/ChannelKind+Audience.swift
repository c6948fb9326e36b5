import ChatModel

extension ChannelKind? {
    /// The audience of events in a channel: the rule for its members or for the users inside. In a public channel or
    /// one without a record, it is everyone with access.
    func audience(members: AudienceRule, inside: AudienceRule, subjects: [String] = []) -> Audience {
        switch self {
        case .direct, .group: .rule(members, subjects: subjects)
        case .open: .rule(inside, subjects: subjects)
        case .public, nil: .subscribers
        }
    }
}

extension ChannelRecord? {
    func audience(members: AudienceRule, inside: AudienceRule, subjects: [String] = []) -> Audience {
        (self?.kind).audience(members: members, inside: inside, subjects: subjects)
    }
}
