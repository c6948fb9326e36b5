import ChatModel

extension ChannelKind? {
    /// Who hears what goes on in a channel: its members, or those inside; in a public channel, or one without a record,
    /// everybody who may (`sendbird.md` 1.3, 1.4).
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
