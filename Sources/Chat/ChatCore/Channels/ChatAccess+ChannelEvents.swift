import ChatModel
import JSON

extension ChatAccess {
    /// Creates the event that announces a changed channel record to the users in the channel.
    ///
    /// - Parameter snapshot: the snapshot of the decision that makes the change.
    func channelUpdated(
        from before: ChannelRecord, to channel: ChannelRecord, _ counts: MemberCounts, by user: String?,
        _ snapshot: RecordSnapshot
    ) -> EventDraft {
        draft("channel.updated", on: channel.id, by: user, audience: channel.listeners) { writer in
            RecordDifference(from: before.body, to: channel.body).print(to: &writer)
            writer.key("channel")
            channel.stamped(in: snapshot).show(counts, to: &writer)
        }
    }

    func deleted(
        _ channel: ChannelRecord, _ counts: MemberCounts, by user: String?, _ snapshot: RecordSnapshot
    ) -> EventDraft {
        draft("channel.deleted", on: channel.id, by: user, audience: channel.listeners) { writer in
            writer.member("deleted_at", snapshot.next.timestamp)
            writer.key("channel")
            channel.show(counts, to: &writer)
        }
    }
}

extension ChannelRecord {
    /// Returns the channel's record with the version and the time that the commit will give it.
    func stamped(in snapshot: RecordSnapshot) -> ChannelRecord {
        var channel = self
        (channel.etag, channel.updated) = (snapshot.etag, snapshot.next)
        return channel
    }
}

extension MemberChange {
    /// The event that announces a new channel with its first members. In a private channel, the audience lists the
    /// members by name, because they become members only after this event. For any other channel, the audience is the
    /// channel's subscribers.
    var channelCreated: EventDraft {
        chat.draft(
            "channel.created", on: channel.id, by: actor.user,
            audience: channel.kind.isPrivate ? .rule(.user, subjects: members.map(\.user)) : .subscribers
        ) { writer in
            printChannel(to: &writer)
            print("members", members, to: &writer)
            printInviter(actor.user, to: &writer)
        }
    }
}
