import ChatModel
import JSON

extension UnreadCounts {
    /// Keeps a user's devices told until the same number of `unwatch`.
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

    /// Has a user's devices told, watched or not: who has just read waits for it. Nobody is counted for who was not before.
    func tell(_ user: UserID) {
        guard holders[user]?.isLoaded ?? false else { return }
        holders[user]?.isOwed = true
        untold.insert(user)
    }

    /// Tells whose sums differ from what was told, again and again, until cancelled: what comes within 300 ms goes
    /// together.
    func keepTelling() async {
        for await _ in news.stream {
            try? await Task.sleep(for: .milliseconds(300))  // cancellation ends the stream
            await tellChanges()
        }
    }

    /// Tells each user whose sum differs from what was told: one event each, whatever came together, and those of many users
    /// in one commit.
    func tellChanges() async {
        var users = Array(untold.filter { user in holders[user].map { $0.watchers > 0 || $0.isOwed } ?? false })[...]
        untold = []
        while !users.isEmpty {
            await tell(changesOf: users.prefix(Self.tellingAtOnce))
            users = users.dropFirst(Self.tellingAtOnce)
        }
    }

    private static let tellingAtOnce = 250

    private func tell(changesOf users: some Sequence<UserID>) async {
        var news: [(user: UserID, sum: Unread)] = []
        var drafts: [EventDraft] = []
        var counts: [(user: UserID, channel: ExactText, unread: Int)] = []
        for user in await following(Array(users)) where holders[user] != nil { holders[user]?.followsActivity = true }
        for user in users {
            guard let sum = try? await unread(of: user) else {
                untold.insert(user)
                continue
            }
            let activity = await activity(of: user)
            drafts += activity.map(\.draft)
            counts += activity.map { (user: user, channel: $0.channel, unread: $0.unread) }
            holders[user]?.isOwed = false
            let told = holders[user]?.told
            guard told != sum else { continue }
            news.append((user, sum))
            drafts.append(event(sum, before: told ?? Unread(), for: user))
        }
        guard !drafts.isEmpty else { return }
        do throws(ChatError) {
            _ = try await log.append(drafts, claim: nil)
            for (user, sum) in news { holders[user]?.told = sum }
            let due = clock.now.adding(ChannelActivity.interval)
            for (user, channel, unread) in counts {
                holders[user]?.channels[channel]?.told = unread
                holders[user]?.channels[channel]?.due = due
            }
        } catch {
            for user in Set(news.map(\.user) + counts.map(\.user)) {
                holders[user]?.isOwed = true
                untold.insert(user)
            }
        }
    }

    /// Absolute numbers; a custom type that has fallen to nothing is named once more, so that its badge can go.
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
            channel: ChannelID(user.name, in: user.app), type: "unread_count.updated", kind: .other,
            retention: .passing, data: data)
        draft.audience = .rule(.user, subjects: [user.name])
        return draft
    }
}
