public import ChatModel
import JSON

extension ChatAccess {
    /// The maximum number of events that one step of a deletion by range removes. Other writes run between the steps.
    private static let stepEvents = 500
    /// The maximum number of attempts of a step while other requests change the same events.
    private static let stepTries = 20

    /// Permanently removes the stored events of a channel between two timetokens, oldest first. Both bounds are
    /// exclusive. Events emitted during the call are not removed.
    ///
    /// The deletion runs in steps of 500 events, and each step is one commit. A step removes the events and every
    /// stored copy of their text. It subtracts removed replies from their threads, and unpins a removed message. It
    /// emits `channel.events_deleted` with the removed range.
    ///
    /// - Returns: the number of removed events.
    /// - Throws: `.forbidden` without the scope `manage`, and when the caller's patterns do not cover the channel. When
    ///   a step fails, the steps before it remain done.
    public func deleteEvents(
        after: Timetoken, before: Timetoken, in name: String
    ) async throws(ChatError) -> Int {
        try caller.require(.manage)
        try caller.require(channel: name)
        let end = min(before, Timetoken(try await log.watermark(of: app).rawValue + 1))
        var request = HistoryRequest(channel: channel(name), after: after, before: end, limit: Self.stepEvents)
        var (count, tries) = (0, 0)
        while true {
            let page = try await log.history([request])[0]
            let bound = page.hasMore ? Timetoken(page.position.rawValue + 1) : end
            do throws(ChatError) {
                if !page.items.isEmpty { try await remove(page.items, after: request.after, before: bound, in: name) }
            } catch {
                // Another request removed one of the events, or changed a thread, after they were read: try again.
                tries += 1
                guard error.code == .notFound || error.code == .conflict else { throw error }
                guard tries < Self.stepTries else { throw ThreadReplyRemoval.isBusy }
                continue
            }
            (count, tries) = (count + page.items.count, 0)
            guard let rest = request.rest(behind: page) else { break }
            request = rest
        }
        // Also removes events that are hidden by the retention but still stored.
        _ = try await log.delete(after: after, before: end, in: channel(name))
        return count
    }

    /// Removes the given events in one commit, as one step of a deletion by range. Also removes the copies of their
    /// texts, subtracts removed replies from their threads, and unpins a removed message.
    private func remove(
        _ events: [Event], after: Timetoken, before: Timetoken, in name: String
    ) async throws(ChatError) {
        let messages = events.filter(\.isMessage)
        let threads = try await threads(losing: messages, in: name)
        let channelKey = ChannelRecord.key(name, in: app)
        let keys = messages.flatMap {
            [MessageRecord.key(name, $0.timetoken, in: app), reportsKey($0.timetoken, name)]
        }
        // The deletion is counted even after an error, because its outcome may be unknown.
        defer { service.countDeletion() }
        let edited = try await decide([channelKey, MemberCounts.key(name, in: app)] + keys + threads.flatMap(\.keys)) {
            snapshot throws(ChatError) in
            var channel = snapshot[channelKey].flatMap { ChannelRecord($0) }
            let announcement = self.draft(
                "channel.events_deleted", on: name, kind: .action, by: self.caller.user,
                audience: channel.audience(members: .joined, inside: .participants)
            ) { writer in
                writer.member("after", after.description)
                writer.member("before", before.description)
                writer.member("deleted_count", events.count)
            }
            var decision = Decision<[Timetoken]>([], events: [announcement])
            decision.requires = events.map { ($0.channel, $0.timetoken) }
            decision.removals = decision.requires
            let places = Set(events.map(\.timetoken))
            var authors: [RecordKey: [String?]] = [:]
            for message in messages {
                self.removeReports(of: message.timetoken, in: name, snapshot, &decision)
                let key = MessageRecord.key(name, message.timetoken, in: self.app)
                guard var record = snapshot[key].flatMap({ MessageRecord($0) }) else { continue }
                if record.deletion == nil, let root = record.threadKey(in: self.app),
                    !places.contains(record.threadOf)
                {
                    authors[root, default: []].append(message.user)
                }
                if !record.copies.isEmpty || !record.mentions.isEmpty { decision.value.append(message.timetoken) }
                let copies = record.remove(at: snapshot.next, by: self.caller.user, in: self.app)
                decision.removals += copies.events
                decision.changes += copies.records + [record.change(in: self.app)]
            }
            for thread in threads {
                guard let authors = authors[thread.root], let root = try thread.rest(snapshot, without: authors) else {
                    continue
                }
                decision.changes.append(root.change(in: self.app))
                decision.events.append(
                    self.threadUpdated(root, .replyDeleted, .zero, by: self.caller.user, in: channel, snapshot))
            }
            if let pinned = channel?.pinned, places.contains(pinned) {
                self.pin(.zero, in: &channel, Actor(user: self.caller.user, isManager: true), &decision, snapshot)
            }
            return decision
        }
        for message in edited.value { try await service.answers.forget(about: message, in: channel(name)) }
    }

    /// Reads the threads that lose replies when `messages` are removed. Leaves out each thread whose first message is
    /// also removed.
    private func threads(losing messages: [Event], in name: String) async throws(ChatError) -> [ThreadReplyRemoval] {
        let places = Set(messages.map(\.timetoken))
        let records = try await directory.read(messages.map { MessageRecord.key(name, $0.timetoken, in: app) })
        var roots: Set<RecordKey> = []
        for record in records.compactMap({ $0.flatMap { MessageRecord($0) } }) where !places.contains(record.threadOf) {
            if let root = record.threadKey(in: app) { roots.insert(root) }
        }
        var threads: [ThreadReplyRemoval] = []
        for root in roots { threads.append(try await ThreadReplyRemoval(of: root, losing: places, in: directory)) }
        return threads
    }
}

extension Event {
    /// True for a message, and for an event of an app's own type that counts as a message.
    var isMessage: Bool { type == BuiltInTypes.messageCreated || kind == .message }
}

extension MessageRecord {
    /// Marks the record's message as permanently removed from the event log.
    ///
    /// - Returns: the copies of the message's text to remove together with it: events in the event log, and records of
    ///   earlier edits.
    mutating func remove(
        at timetoken: Timetoken, by user: String?, in app: AppID
    ) -> (events: [(channel: ChannelID, timetoken: Timetoken)], records: [RecordChange]) {
        defer { (edit, copies, mentions) = (nil, [], []) }
        deletion = Deletion(at: timetoken, by: user, isHard: true)
        var events = copies.map { (channel: ChannelID(channel, in: app), timetoken: $0) }
        events += mentions.map { (channel: ChannelID($0.channel, in: app), timetoken: $0.timetoken) }
        return (events, earlierEdits.map { forget(edit: $0, in: app) })
    }
}
