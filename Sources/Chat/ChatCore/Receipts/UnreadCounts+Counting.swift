import ChatModel
import JSON

extension UnreadCounts {
    /// Returns the unread counts of a user, including all events committed before the call.
    func unread(of user: UserID) async throws(ChatError) -> Unread { try await refreshed(user).sum }

    /// Returns the unread count of a user in one channel; nil when the user is not a member.
    func unread(of user: UserID, in channel: ChannelID) async throws(ChatError) -> Int? {
        try await refreshed(user).channels[ExactText(channel.name)]?.unread
    }

    /// Returns the names of the channels in which a user has unread messages.
    func channels(of user: UserID) async throws(ChatError) -> [String] {
        try await refreshed(user).channels.filter { $0.value.unread > 0 }.keys.sorted().map(\.text)
    }

    /// Brings the unread counts of a user up to date with all events committed before the call, and returns the user's
    /// entry.
    private func refreshed(_ user: UserID) async throws(ChatError) -> Holder {
        try await reachNewest(of: [user.app])
        return try await recounted(user)
    }

    /// Counts again what is stale in the unread counts of a user, and returns the user's entry.
    func recounted(_ user: UserID) async throws(ChatError) -> Holder {
        holders[user, default: Holder()].asking += 1
        defer {
            holders[user]?.asking -= 1
            if holders[user]?.watchers == 0 { becameIdle() }
        }
        use(user)
        if !(holders[user]?.isLoaded ?? false) { try await load(user) }
        while !staleChannels(of: user).isEmpty { try await queued(user) }
        return holders[user] ?? Holder()
    }

    /// Counts the unread messages again in each channel of the user whose count is marked as stale (outdated). If
    /// another task is already counting for the user, waits for that task. Two concurrent counts must not run, because
    /// one of them could leave out newer messages that the other has added.
    private func queued(_ user: UserID) async throws(ChatError) {
        guard counting[user] == nil else {
            return await withCheckedContinuation { waiter in
                // The other task may have finished before this closure runs.
                if counting[user] == nil { waiter.resume() } else { counting[user]?.append(waiter) }
            }
        }
        counting[user] = []
        defer { for waiter in counting.removeValue(forKey: user) ?? [] { waiter.resume() } }
        // Counts in batches, so that thousands of counts do not delay other reads of the store.
        var stale = staleChannels(of: user)[...]
        while !stale.isEmpty {
            try await count(Array(stale.prefix(Self.countsAtOnce)), of: user)
            stale = stale.dropFirst(Self.countsAtOnce)
        }
    }

    private static let countsAtOnce = 250

    private func staleChannels(of user: UserID) -> [String] {
        (holders[user]?.channels ?? [:]).filter(\.value.isStale).map(\.key.text)
    }

    private func load(_ user: UserID) async throws(ChatError) {
        var query = RecordQuery(.membership, in: user.app, limit: 500)
        query.idPrefix = MembershipRecord.prefix(of: user.name)
        try await directory.forEachPage(query) { records in
            for membership in records.compactMap({ MembershipRecord($0) }) {
                hold(ChannelID(membership.channel, in: user.app), for: user)
            }
        }
        holders[user]?.isLoaded = true
        use(user)
    }

    /// Counts in the event log how many messages the user has not read in each channel. If a channel is marked as stale
    /// (outdated) during the count, the result for the channel is discarded, and the channel must be counted again.
    private func count(_ channels: [String], of user: UserID) async throws(ChatError) {
        var turns: [ExactText: Int] = [:]
        for channel in channels { turns[ExactText(channel)] = holders[user]?.channels[ExactText(channel)]?.turns }
        let found = try await stored(of: user, in: channels)
        for channel in channels where found[ExactText(channel)] == nil {
            if isCurrent(channel, of: user, turns) { release(ChannelID(channel, in: user.app), of: user) }
        }
        // A mark may be ahead of the events processed so far. After this wait, every message that is added is newer
        // than the marks. The mark of an imported membership may even be ahead of the log.
        let marks = found.values.map(\.since).max() ?? .zero
        guard await reach(min(marks, try await log.watermark(of: user.app))) else { throw .notListening }
        let end = position
        for channel in found.keys { holders[user]?.channels[channel]?.added = 0 }
        let counted = found.filter { $0.value.counts }
        let unread = try await messages(in: counted.mapValues(\.since), upTo: end, for: user)
        for (channel, stored) in found where isCurrent(channel.text, of: user, turns) {
            guard var entry = holders[user]?.channels[channel] else { continue }
            entry.counts = stored.counts
            entry.customType = stored.customType
            entry.since = stored.since
            entry.counted = unread[channel] ?? 0
            entry.isStale = false
            holders[user]?.channels[channel] = entry
        }
    }

    private func isCurrent(_ channel: String, of user: UserID, _ turns: [ExactText: Int]) -> Bool {
        holders[user]?.channels[ExactText(channel)]?.turns == turns[ExactText(channel)]
    }

    /// Reads from the store, for each channel, whether its messages count as unread for the user, and the timetoken
    /// after which they count. Channels of which the user is not a member are left out.
    private func stored(
        of user: UserID, in channels: [String]
    ) async throws(ChatError) -> [ExactText: UnreadChannel] {
        let memberships = channels.map { MembershipRecord.key(user.name, $0, in: user.app) }
        let records = try await directory.read(memberships + channels.map { ChannelRecord.key($0, in: user.app) })
        var found: [ExactText: UnreadChannel] = [:]
        for (index, channel) in channels.enumerated() {
            guard let membership = records[index].flatMap({ MembershipRecord($0) }),
                !pendingDeletions.hide(membership, in: user.app)
            else { continue }
            var entry = UnreadChannel()
            let hiding = membership.hiding
            entry.counts = membership.state == .joined && hiding?.endsWithMessage ?? true
            entry.customType = records[channels.count + index].flatMap { ChannelRecord($0) }?.customType
            let hidden = hiding.map { $0.hidesHistory ? $0.since : .zero } ?? .zero
            entry.since = max(membership.read, membership.joined, hidden)
            found[ExactText(channel)] = entry
        }
        return found
    }

    /// Returns the number of messages of other users in each channel. The messages counted are after the timetoken
    /// given for the channel, and not after `end`.
    private func messages(
        in channels: [ExactText: Timetoken], upTo end: Timetoken, for user: UserID
    ) async throws(ChatError) -> [ExactText: Int] {
        let requests = channels.map { channel, since in
            var request = HistoryRequest(channel: ChannelID(channel.text, in: user.app), after: since, limit: 250)
            request.before = Timetoken(end.rawValue + 1)
            request.types = [.exact(BuiltInTypes.messageCreated)]
            return request
        }
        let lively = zip(requests, try await log.counts(requests)).filter { $1 > 0 }
        let own = lively.map { request, _ in
            var own = request
            own.user = user.name
            return own
        }
        let mine = try await log.counts(own)
        let ofOthers = zip(lively, mine).filter { $0.1 > $1 }
        let marked = try await marked(ofOthers.map(\.0.0), for: user)
        return Dictionary(
            uniqueKeysWithValues: zip(ofOthers, marked).map { of, marked in
                (ExactText(of.0.0.channel.name), of.0.1 - of.1 - marked)
            })
    }

    /// Returns the number of messages in each range that are still stored but marked as deleted. Messages of the user
    /// do not count. The deleted messages are found by the events of the deletions, which are after the messages. A
    /// deletion may have been undone since, so each message is checked.
    private func marked(_ messages: [HistoryRequest], for user: UserID) async throws(ChatError) -> [Int] {
        let requests = messages.map { messages in
            var request = messages
            request.types = [.exact("message.deleted")]
            return request
        }
        var counts: [Int] = []
        for (request, first) in zip(requests, try await log.history(requests)) {
            counts.append(first.items.isEmpty ? 0 : try await marked(request, first, for: user))
        }
        return counts
    }

    private func marked(
        _ request: HistoryRequest, _ first: Page<Event>, for user: UserID
    ) async throws(ChatError) -> Int {
        let begin = request.after
        var (request, page) = (request, first)
        var marked: Set<Timetoken> = []
        while true {
            for event in page.items {
                guard let data = try? JSONDocument(event.data).root, !(data["hard"]?.boolean ?? true),
                    let text = data["message"]?["timetoken"]?.string, let message = Timetoken(text: text),
                    message > begin
                else { continue }
                guard try await isMarked(message, event.channel),
                    let deleted = try await log.event(at: message, in: user.app),
                    deleted.user.map({ ExactText($0) != ExactText(user.name) }) ?? true
                else { continue }
                marked.insert(message)
            }
            guard let rest = request.rest(behind: page) else { return marked.count }
            request = rest
            page = try await log.history([request])[0]
        }
    }

    private func isMarked(_ message: Timetoken, _ channel: ChannelID) async throws(ChatError) -> Bool {
        let key = MessageRecord.key(channel.name, message, in: channel.app)
        return try await directory.read(key).flatMap { MessageRecord($0) }?.deletion != nil
    }
}
