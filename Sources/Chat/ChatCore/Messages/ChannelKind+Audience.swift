import ChatModel

extension ChannelKind? {
    /// Returns the audience of an event in a channel of this kind. For a public channel or a channel without a record,
    /// the audience is everyone with access to the channel.
    ///
    /// - Parameters:
    ///   - members: the audience rule for a direct or group channel.
    ///   - inside: the audience rule for an open channel.
    ///   - subjects: the ids of the users to whom the audience rule refers.
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
