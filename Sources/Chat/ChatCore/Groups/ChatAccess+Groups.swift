public import ChatModel

extension ChatAccess {
    /// A change of the channels of a channel group.
    public enum GroupEdit: Sendable {
        /// Replaces all channels of the group.
        case replace([String])
        /// Removes the channels `removing` from the group, and then appends the channels `adding`. Adding a channel
        /// that the group already has, or removing a channel that it does not have, changes nothing.
        case change(adding: [String], removing: [String])
    }

    /// Returns a channel group; nil when there is none. The group's channels that the caller's patterns do not cover,
    /// or that the caller may not see, are left out.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` for a bad name; the errors of the store.
    public func group(_ name: String) async throws(ChatError) -> GroupRecord? {
        try caller.require(.read)
        try Names.check(group: name)
        let record = try await directory.read(GroupRecord.key(name, in: app))
        guard let group = record.flatMap(GroupRecord.init) else { return nil }
        return try await known(reachable(group))
    }

    /// Returns one page of the channel groups, ordered by name. Each group has the channels that ``group(_:)`` returns.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` for a bad query; the errors of the store.
    public func groups(_ list: RecordList) async throws(ChatError) -> Page<GroupRecord> {
        try caller.require(.read)
        let query = RecordQuery(.group, in: app, limit: list.limit)
        return try await page(query, list, created: \.updated) { records async throws(ChatError) in
            var groups: [GroupRecord?] = []
            for record in records {
                guard let group = GroupRecord(record).map(reachable) else {
                    groups.append(nil)
                    continue
                }
                groups.append(try await known(group))
            }
            return groups
        }
    }

    /// Returns the group without private channels that the caller's user may not see. A user's credential must not
    /// learn the names of these private channels, neither here nor in the list of channels.
    private func known(_ group: GroupRecord) async throws(ChatError) -> GroupRecord {
        var group = group
        group.channels = try await known(group.channels)
        return group
    }

    private func reachable(_ group: GroupRecord) -> GroupRecord {
        var group = group
        group.channels.removeAll { !caller.reaches(channel: $0) }
        return group
    }

    /// Requires that the caller's patterns cover all channels of the group; does nothing when `group` is nil. A caller
    /// who does not see all channels of a group could remove channels without knowing, so such a caller may not change
    /// the group.
    ///
    /// - Throws: `.forbidden`.
    private func requireAll(of group: GroupRecord?) throws(ChatError) {
        for channel in group?.channels ?? [] where !caller.reaches(channel: channel) {
            throw ChatError(
                .forbidden,
                "the group contains channels to which this credential has no access; use a credential with access to all of them"
            )
        }
    }

    /// Writes the channels of a channel group. A group without channels is not deleted.
    ///
    /// - Parameter isMaking: true to create the group when there is none.
    /// - Throws: `.notFound` when there is no group and `isMaking` is false; `.forbidden` without the scope `manage`,
    ///   and when the caller's patterns do not cover all channels of the group; `.malformed` for a bad name; `.invalid`
    ///   with the slug `group_full` for more than `Limits.groupChannels` channels; the errors of
    ///   `RecordChange.Precondition.check`.
    public func write(
        group name: String, _ edit: GroupEdit, precondition: RecordChange.Precondition = .none, isMaking: Bool = true
    ) async throws(ChatError) -> Written<GroupRecord> {
        try caller.require(.manage)
        try Names.check(group: name)
        for channel in edit.channels { try requireRecord(of: channel) }
        let key = GroupRecord.key(name, in: app)
        let decided = try await decide([key]) { snapshot throws(ChatError) in
            let before = snapshot[key].flatMap(GroupRecord.init)
            try requireAll(of: before)
            var group = GroupRecord(id: name, channels: edit.applied(to: before?.channels ?? []))
            group.created = before?.created ?? snapshot.now
            guard group.channels.count <= limits.groupChannels else {
                throw .over(
                    .invalid, "a channel group may have at most \(limits.groupChannels) channels; create another group",
                    slug: "group_full", limit: limits.groupChannels, field: "channels")
            }
            try precondition.check(before?.etag, current: snapshot[key])
            guard isMaking || before != nil else {
                throw ChatError(.notFound, "there is no channel group '\(name)'")
            }
            let change = RecordChange(key, body: group.body)
            return Decision(Written(record: group, isNew: before == nil), changes: [change])
        }
        let stored = decided.record(key).flatMap(GroupRecord.init) ?? decided.value.record
        return Written(record: stored, isNew: decided.value.isNew)
    }

    /// Deletes a channel group. Its channels are not changed.
    ///
    /// - Returns: true when a group was deleted.
    /// - Throws: `.forbidden` without the scope `manage`, and when the caller's patterns do not cover all channels of
    ///   the group; `.malformed` for a bad name; the errors of `RecordChange.Precondition.check`.
    @discardableResult
    public func delete(
        group name: String, precondition: RecordChange.Precondition = .none
    ) async throws(ChatError) -> Bool {
        try caller.require(.manage)
        try Names.check(group: name)
        let key = GroupRecord.key(name, in: app)
        return try await decide([key]) { snapshot throws(ChatError) in
            let record = snapshot[key]
            try requireAll(of: record.flatMap(GroupRecord.init))
            try precondition.check(record?.etag)
            return Decision(record != nil, changes: record == nil ? [] : [RecordChange(key, body: nil)])
        }.value
    }

    /// Returns the channels of the groups `names` that the caller's patterns cover, without duplicates. A stream of
    /// groups follows these channels. A group that does not exist has no channels.
    ///
    /// - Throws: `.malformed` for a bad name, or for more than `Limits.groupChannelsPerRequest` channels.
    public func groupChannels(_ names: [String]) async throws(ChatError) -> [String] {
        let channels = try await channels(ofGroups: names).flatMap { $0 }.distinct
        try requireCapacity(forGroupChannels: channels.count)
        return channels
    }

    /// Checks the total number of channels in all channel groups that one request names.
    ///
    /// - Throws: `.malformed` for more than `Limits.groupChannelsPerRequest` channels.
    public func requireCapacity(forGroupChannels count: Int) throws(ChatError) {
        let most = limits.groupChannelsPerRequest
        guard count <= most else {
            throw ChatError(
                .malformed, "the channel groups have more than \(most) channels together; name fewer groups")
        }
    }

    /// Returns, for each group, its channels that the caller's patterns cover, in the order of `names`.
    ///
    /// - Throws: `.malformed` for a bad name; the errors of the store.
    public func channels(ofGroups names: [String]) async throws(ChatError) -> [[String]] {
        for name in names { try Names.check(group: name) }
        let records = try await directory.read(names.map { GroupRecord.key($0, in: app) })
        return records.map { $0.flatMap(GroupRecord.init).map(reachable)?.channels ?? [] }
    }
}

extension ChatAccess.GroupEdit {
    /// All channels that the edit names.
    fileprivate var channels: [String] {
        switch self {
        case .replace(let channels): channels
        case .change(let adding, let removing): adding + removing
        }
    }

    fileprivate func applied(to channels: [String]) -> [String] {
        switch self {
        case .replace(let channels): return channels.distinct
        case .change(let adding, let removing):
            let gone = Set(removing.map { ExactText($0) })
            return (channels.filter { !gone.contains(ExactText($0)) } + adding).distinct
        }
    }
}

extension [String] {
    /// The names without duplicates, each at its first position.
    fileprivate var distinct: [String] {
        var seen: Set<ExactText> = []
        return filter { seen.insert(ExactText($0)).inserted }
    }
}
