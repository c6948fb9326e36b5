import ChatModel
import JSON

extension UnreadCounts {
    /// Channels of a user that one turn tells of.
    private static let activitiesAtOnce = 50

    /// The channels of a user whose number differs from what `channel.activity` told last, with the events that say so; none
    /// where no device of the user follows it. Those that were told of less than a second ago come later.
    func activity(of user: UserID) async -> [(channel: ExactText, unread: Int, draft: EventDraft)] {
        guard let holder = holders[user], holder.followsActivity else { return [] }
        let now = clock.now
        let changed = holder.channels.filter { $0.value.unread != $0.value.told ?? 0 }
        // A clock that was set back makes all of it due.
        let due = changed.filter { $0.value.due <= now || $0.value.due > now.adding(ChannelActivity.interval) }
        if due.count < changed.count { untold.insert(user) }
        guard !due.isEmpty else { return [] }
        // A user with very many channels is told of the rest in the next turns.
        let names = Array(due.keys.sorted().prefix(Self.activitiesAtOnce))
        if names.count < due.count { untold.insert(user) }
        // Without records the events name ids alone, which is all that is certain of them anyway.
        let records = (try? await directory.read(names.map { ChannelRecord.key($0.text, in: user.app) })) ?? []
        return names.enumerated().map { index, name in
            let record = index < records.count ? records[index].flatMap { ChannelRecord($0) } : nil
            let unread = due[name]?.unread ?? 0
            let draft = Self.event(unread, in: name.text, record, for: user)
            return (channel: name, unread: unread, draft: draft)
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

    /// Nobody follows what is unread in the user's channels any more.
    func endActivity(of user: UserID) {
        guard holders[user]?.followsActivity == true else { return }
        holders[user]?.followsActivity = false
        for channel in holders[user]?.channels.keys.map({ $0 }) ?? [] {
            holders[user]?.channels[channel]?.told = nil
            holders[user]?.channels[channel]?.due = .zero
        }
    }
}
