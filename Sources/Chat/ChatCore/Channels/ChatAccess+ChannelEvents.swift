import ChatModel
import JSON

extension ChatAccess {
    /// What changed of a channel's record, for those who are in it.
    func channelUpdated(
        from before: ChannelRecord, to channel: ChannelRecord, counts: MemberCounts?, by user: String?
    ) -> EventDraft {
        draft("channel.updated", on: channel.id, by: user, audience: channel.listeners) { writer in
            RecordDifference(from: before.body, to: channel.body).print(to: &writer)
            writer.key("channel")
            channel.printReference(to: &writer, counts: channel.kind.hasMembers ? counts : nil)
        }
    }

    func deleted(
        _ channel: ChannelRecord, _ counts: MemberCounts, at now: Timetoken, by user: String?
    ) -> EventDraft {
        draft("channel.deleted", on: channel.id, by: user, audience: channel.listeners) { writer in
            writer.member("deleted_at", now.milliseconds)
            writer.key("channel")
            channel.printReference(to: &writer, counts: channel.kind.hasMembers ? counts : nil)
        }
    }
}

extension MemberChange {
    /// That the channel was made, with its first members: they are told by name where only members are, since they come
    /// after it; else who follows it.
    var channelCreated: EventDraft {
        chat.draft(
            "channel.created", on: channel.id, by: actor.user,
            audience: channel.kind.isPrivate ? .rule(.user, subjects: members.map(\.user)) : .subscribers
        ) { writer in
            writer.key("channel")
            channel.printReference(to: &writer, counts: channel.kind.hasMembers ? counts : nil)
            writer.member("created_at", situation.now.milliseconds)
            writer.key("operators")
            writer.beginArray()
            for id in channel.operators { user(id).printReference(to: &writer) }
            writer.endArray()
            writer.key("members")
            writer.beginArray()
            for member in members { print(member, to: &writer) }
            writer.endArray()
            printInviter(actor.user, to: &writer)
            var blank = channel
            ChannelEdit().replace(in: &blank)
            let fields = RecordDifference(from: blank.body, to: channel.body)
            if !fields.isEmpty { fields.print(to: &writer) }
        }
    }
}
