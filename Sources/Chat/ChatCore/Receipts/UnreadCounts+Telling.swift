import ChatModel
import JSON

extension UnreadCounts {
    /// Starts notifications of a user's unread counts. The notifications stop after the same number of `unwatch` calls.
    func watch(_ user: UserID) {
        holders[user, default: Holder()].watchers += 1
        untold.insert(user)
    }

    func unwatch(_ user: UserID) {
        guard let watchers = holders[user]?.watchers, watchers > 0 else { return }
        holders[user]?.watchers = watchers - 1
        guard watchers == 1 else { return }
        endActivity(of: user)
        becameIdle()
    }

    /// Notifies a user's devices once, even without `watch`, because a user who has just read messages waits for the
    /// new count. Does nothing for a user whose counts are not in memory.
    func notify(_ user: UserID) {
        guard holders[user]?.isLoaded ?? false else { return }
        holders[user]?.isOwed = true
        untold.insert(user)
    }

    /// Notifies users whose counts have changed, until cancelled. Changes within 300 ms are combined into one
    /// notification.
    func runReports() async {
        for await _ in changeSignal.stream {
            try? await Task.sleep(for: .milliseconds(300))  // cancellation ends the stream
            await reportChanges()
        }
    }

    /// Notifies each user whose counts have changed. Each user gets one event; one commit stores the events of many
    /// users.
    func reportChanges() async {
        var users = Array(untold.filter { user in holders[user].map { $0.watchers > 0 || $0.isOwed } ?? false })[...]
        untold = []
        while !users.isEmpty {
            await notify(changesOf: users.prefix(Self.reportsAtOnce))
            users = users.dropFirst(Self.reportsAtOnce)
        }
    }

    private static let reportsAtOnce = 250

    private func notify(changesOf users: some Sequence<UserID>) async {
        let users = Array(users)
        for user in await following(users) where holders[user] != nil { holders[user]?.followsActivity = true }
        do throws(ChatError) {
            try await reachNewest(of: Set(users.map(\.app)))
        } catch {
            untold.formUnion(users)
            return
        }
        var drafts: [EventDraft] = []
        for user in users {
            guard let sum = try? await recounted(user).sum else {
                untold.insert(user)
                continue
            }
            drafts += await activity(of: user)
            holders[user]?.isOwed = false
            let told = holders[user]?.reported
            if told != sum { drafts.append(event(sum, before: told ?? Unread(), for: user)) }
        }
        guard !drafts.isEmpty else { return }
        do throws(ChatError) {
            for appended in try await log.append(drafts, claim: nil).events {
                hear(appended.event)
                // Another node was first, and its counts may be older. The next round compares them.
                if appended.isDuplicate { untold.insert(Self.user(of: appended.event.channel)) }
            }
        } catch {
            for user in Set(drafts.map({ Self.user(of: $0.channel) })) {
                holders[user]?.isOwed = true
                untold.insert(user)
            }
        }
    }

    private static func user(of ownChannel: ChannelID) -> UserID { UserID(ownChannel.name, in: ownChannel.app) }

    /// Records the unread counts that an event has reported to a user's devices. The event may be from another node,
    /// which reports to the same user, so that this node does not repeat it.
    func hear(_ event: Event) {
        guard event.type == Self.countsType || event.type == BuiltInTypes.channelActivity,
            case .rule(.user, _) = event.audience, !holders.isEmpty
        else { return }
        let user = Self.user(of: event.channel)
        guard let holder = holders[user], let data = try? JSONDocument(event.data).root,
            let total = data["unread_count"]?.integer
        else { return }
        if event.type == Self.countsType {
            guard holder.lastReport < event.timetoken else { return }
            var reported = Unread()
            reported.total = Int(total)
            for (type, count) in data["by_custom_type"]?.members ?? [] {
                if let count = count.integer, count > 0 { reported.byCustomType[type] = Int(count) }
            }
            holders[user]?.reported = reported
            holders[user]?.lastReport = event.timetoken
        } else {
            guard let channel = data["channel"]?["id"]?.string.map({ ExactText($0) }),
                let entry = holder.channels[channel], entry.lastReport < event.timetoken
            else { return }
            holders[user]?.channels[channel]?.reported = Int(total)
            holders[user]?.channels[channel]?.lastReport = event.timetoken
            holders[user]?.channels[channel]?.due = clock.now.adding(ChannelActivity.interval)
        }
    }

    private static let countsType = "unread_count.updated"

    /// Creates the event with the new counts. A custom type whose count fell to zero is included once, so that clients
    /// can remove its badge.
    private func event(_ sum: Unread, before: Unread, for user: UserID) -> EventDraft {
        var types = sum.byCustomType
        for type in before.byCustomType.keys where types[type] == nil { types[type] = 0 }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("unread_count", sum.total)
            writer.key("by_custom_type")
            writer.beginObject()
            for (type, count) in types.sorted(by: { $0.key < $1.key }) {
                writer.key(text: type)
                writer.integer(count)
            }
            writer.endObject()
            writer.member("counted_timetoken", position.description)
            writer.member("counted_at", position.timestamp)
            writer.endObject()
        }
        var draft = EventDraft(
            channel: ChannelID(user.name, in: user.app), type: Self.countsType, kind: .other,
            retention: .passing, data: data)
        draft.audience = .rule(.user, subjects: [user.name])
        // Of the nodes that have heard the same last report, only one stores the next.
        if isShared, let last = holders[user]?.lastReport, last > .zero { draft.deduplicationKey = "unread/\(last)" }
        return draft
    }
}

extension UnreadCounts {
    /// The maximum number of channels of a user for which one notification round creates `channel.activity` events.
    private static let activitiesAtOnce = 50

    /// Returns the events of a user's channels whose unread count differs from the last `channel.activity` event.
    /// Channels reported less than a second ago are left for a later round. Empty when no device of the user
    /// follows `channel.activity`.
    func activity(of user: UserID) async -> [EventDraft] {
        guard let holder = holders[user], holder.followsActivity else { return [] }
        let now = clock.now
        let changed = holder.channels.filter { $0.value.unread != $0.value.reported ?? 0 }
        // If the clock was set back, all channels are due.
        let due = changed.filter { $0.value.due <= now || $0.value.due > now.adding(ChannelActivity.interval) }
        if due.count < changed.count { untold.insert(user) }
        guard !due.isEmpty else { return [] }
        // For a user with more changed channels, the next rounds report the remaining ones.
        let names = Array(due.keys.sorted().prefix(Self.activitiesAtOnce))
        if names.count < due.count { untold.insert(user) }
        // If the records cannot be read, the events contain only ids.
        let records = (try? await directory.read(names.map { ChannelRecord.key($0.text, in: user.app) })) ?? []
        return names.enumerated().map { index, name in
            let record = index < records.count ? records[index].flatMap { ChannelRecord($0) } : nil
            let entry = due[name] ?? UnreadChannel()
            var draft = Self.event(entry.unread, in: name.text, record, for: user)
            if isShared {
                // As for the user's counts. Before the first report, the nodes agree on the last report of the counts.
                draft.deduplicationKey =
                    "activity/\(holder.lastReport)/\(entry.lastReport)/\(entry.unread)/\(name.text)"
            }
            return draft
        }
    }

    private static func event(
        _ unread: Int, in channel: String, _ record: ChannelRecord?, for user: UserID
    ) -> EventDraft {
        let own = ChannelID(user.name, in: user.app)
        var draft = ChannelActivity.draft(on: own, about: channel, record) { $0.member("unread_count", unread) }
        draft.audience = .rule(.user, subjects: [user.name])
        return draft
    }

    /// Stops `channel.activity` events for a user without any device that follows them.
    func endActivity(of user: UserID) {
        guard holders[user]?.followsActivity == true else { return }
        holders[user]?.followsActivity = false
        for channel in holders[user]?.channels.keys.map({ $0 }) ?? [] {
            holders[user]?.channels[channel]?.reported = nil
            holders[user]?.channels[channel]?.due = .zero
        }
    }
}
