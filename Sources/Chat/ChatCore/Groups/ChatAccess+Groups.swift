public import ChatModel

extension ChatAccess {
    /// A change of a group's channels.
    public enum GroupEdit: Sendable {
        /// Replaces all channels.
        case replace([String])
        /// Appends channels and removes others. Adding a channel of the group, or removing a channel that is not in it,
        /// has no effect.
        case change(adding: [String], removing: [String])
    }

    /// Returns a group with those of its channels that the caller can use and may know of; nil when there is none.
    ///
    /// - Throws: `.forbidden` without `read`; `.malformed` for a bad name; the errors of the store.
    public func group(_ name: String) async throws(ChatError) -> GroupRecord? {
        try caller.require(.read)
        try Names.check(group: name)
        let record = try await directory.read(GroupRecord.key(name, in: app))
        guard let group = record.flatMap(GroupRecord.init) else { return nil }
        return try await known(reachable(group))
    }

    /// Returns groups ordered by name. Each contains the channels that ``group(_:)`` returns.
    ///
    /// - Throws: `.forbidden` without `read`; `.malformed` for a bad query; the errors of the store.
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

    /// The group without other users' private channels. A user's credential must not learn their names here, as in the
    /// list of channels.
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

    /// Checks that the caller's patterns cover all channels of the group. Other callers may not change it, because they
    /// do not see what they would remove.
    private func requireAll(of group: GroupRecord?) throws(ChatError) {
        for channel in group?.channels ?? [] where !caller.reaches(channel: channel) {
            throw ChatError(
                .forbidden, "the group holds channels that this credential does not reach; use one that reaches all")
        }
    }

    /// Writes a group's channels. A group without channels is kept.
    ///
    /// - Parameter isMaking: true to create the group when there is none.
    /// - Throws: `.notFound` when there is none and `isMaking` is false; `.forbidden` when the caller's patterns do not
    ///   cover the whole group; `.invalid`, slug `group_full`, past `Limits.groupChannels`; as described at
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
                    .invalid, "a channel group has at most \(limits.groupChannels) channels; make another one",
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

    /// Deletes a group. Its channels are kept.
    ///
    /// - Returns: true when there was one.
    /// - Throws: as `write`.
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

    /// Returns the channels of all these groups that the caller can use, each once. A stream of groups follows them. A
    /// group without a record has no channels.
    ///
    /// - Throws: `.malformed` past `Limits.groupChannelsPerRequest`.
    public func groupChannels(_ names: [String]) async throws(ChatError) -> [String] {
        let channels = try await channels(ofGroups: names).flatMap { $0 }.distinct
        try requireCapacity(forGroupChannels: channels.count)
        return channels
    }

    /// Checks the number of channels in the groups of a request.
    ///
    /// - Throws: `.malformed` past `Limits.groupChannelsPerRequest`.
    public func requireCapacity(forGroupChannels count: Int) throws(ChatError) {
        let most = limits.groupChannelsPerRequest
        guard count <= most else {
            throw ChatError(
                .malformed, "the channel groups hold more than \(most) channels together; name fewer groups")
        }
    }

    /// Returns the channels of each group that the caller can use, in the order of the names.
    ///
    /// - Throws: `.malformed` for a bad name; the errors of the store.
    public func channels(ofGroups names: [String]) async throws(ChatError) -> [[String]] {
        for name in names { try Names.check(group: name) }
        let records = try await directory.read(names.map { GroupRecord.key($0, in: app) })
        return records.map { $0.flatMap(GroupRecord.init).map(reachable)?.channels ?? [] }
    }
}

extension ChatAccess.GroupEdit {
    /// All channels that the change names.
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
    /// The names without repetitions, each at its first position.
    fileprivate var distinct: [String] {
        var seen: Set<ExactText> = []
        return filter { seen.insert(ExactText($0)).inserted }
    }
}
