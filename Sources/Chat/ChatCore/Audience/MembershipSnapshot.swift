import ChatModel

/// The memberships and blocks of a user, read from the store.
///
/// The store is read page by page, so the pages may show different moments. The hub then applies the changes that
/// happened during the read.
struct MembershipSnapshot: Sendable {
    var places: [ExactText: ChannelPosition] = [:]
    var blocked: Set<ExactText> = []
    /// For each requested channel, true when the channel's events are for its members only.
    var named: [ExactText: Bool] = [:]

    /// Adds a relation to a channel. A mute is left out, because a muted user receives the same events as other users.
    private mutating func add(_ access: UserAccess, to channel: String, since: Timetoken = .zero) {
        let access = access.subtracting(.muted)
        guard !access.isEmpty else { return }
        places[ExactText(channel), default: ChannelPosition(access: [], since: since)].access.formUnion(access)
    }
}

extension MembershipSnapshot {
    /// Reads all memberships, restrictions and blocks of a user, and the open channels that the user has entered.
    static func read(
        _ user: UserID, naming names: Set<ExactText>, from directory: any Directory, _ board: any PresenceStore,
        pendingDeletions: PendingDeletions, now: Timetoken
    ) async throws(ChatError) -> MembershipSnapshot {
        var reading = MembershipSnapshot()
        let prefix = MembershipRecord.prefix(of: user.name)
        try await forEach(.membership, prefix, user.app, directory) { record in
            guard let membership = MembershipRecord(record), !pendingDeletions.hide(membership, in: user.app) else {
                return
            }
            reading.add(
                UserRights(state: membership.state).access(at: now), to: membership.channel,
                since: membership.state == .joined ? membership.joined : membership.invited)
        }
        try await forEach(.restriction, prefix, user.app, directory) { record in
            guard let restriction = RestrictionRecord(record), !pendingDeletions.hide(restriction, in: user.app) else {
                return
            }
            reading.add(UserRights(restriction: restriction).access(at: now), to: restriction.channel)
        }
        try await forEach(.block, RecordKey.prefix([user.name]), user.app, directory) { record in
            if let block = BlockRecord(record) { reading.blocked.insert(ExactText(block.blocked)) }
        }
        for channel in try await board.channels(of: user, as: .participant) { reading.add(.inside, to: channel.name) }
        guard !names.isEmpty else { return reading }
        let records = try await directory.read(names.map { ChannelRecord.key($0.text, in: user.app) })
        for (name, record) in zip(names, records) {
            reading.named[name] = record.flatMap { ChannelRecord($0) }?.kind.isPrivate ?? false
        }
        return reading
    }

    private static func forEach(
        _ kind: RecordKind, _ prefix: String, _ app: AppID, _ directory: any Directory, _ body: (Record) -> Void
    ) async throws(ChatError) {
        var query = RecordQuery(kind, in: app, limit: 500)
        query.idPrefix = prefix
        try await directory.forEachPage(query) { $0.forEach(body) }
    }
}
