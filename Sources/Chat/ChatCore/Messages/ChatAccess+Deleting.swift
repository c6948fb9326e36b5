public import ChatModel
import JSON

extension ChatAccess {
    /// Deletes a message. Allowed for its author and for operators of the channel. A pinned message is also unpinned.
    ///
    /// A repeated call has no further effect. A message that is marked as deleted can later be removed permanently.
    ///
    /// - Parameters:
    ///   - isHard: false to mark the message as deleted, so that `undo` can restore it; true to remove it from the
    ///     event log permanently.
    ///   - isAction: true when the client deletes the message by adding a message action. Then `timetoken` may also be
    ///     the timetoken of an event of an app's own type.
    /// - Returns: true when the call deleted the message; false when the message was already removed permanently, or
    ///   when `isHard` is false and the message was already marked as deleted.
    /// - Throws: `.notFound` when the message does not exist; `.forbidden` for a user who is neither the author nor an
    ///   operator of the channel; `.stale` when the version of the message is not `etag`.
    @discardableResult
    public func delete(
        _ timetoken: Timetoken, in channel: String, isHard: Bool, by named: String?, ifMatch etag: String? = nil,
        asAction isAction: Bool = false
    ) async throws(ChatError) -> Bool {
        let key = MessageRecord.key(channel, timetoken, in: app)
        _ = try acting(named, in: channel, for: "message.deleted")
        let known = try await directory.read(key).flatMap { MessageRecord($0) }
        if known?.isGone ?? false { return false }
        let context: MessageContext
        do throws(ChatError) {
            context = try await self.context(
                timetoken, in: channel, for: "message.deleted", by: named, nil, orTyped: isAction)
        } catch {
            // Another caller removed the message after the record was read.
            guard error.code == .notFound, let now = try await directory.read(key).flatMap({ MessageRecord($0) }),
                now.isGone
            else { throw error }
            return false
        }
        // The deletion is counted even after an error, because its outcome may be unknown.
        defer { service.countDeletion() }
        let root = known?.threadKey(in: app)
        for _ in 0..<Self.tries {
            var thread: ThreadReplyRemoval?
            if let root { thread = try await ThreadReplyRemoval(of: root, losing: [timetoken], in: directory) }
            do throws(ChatError) {
                let keys = (thread?.keys ?? []) + (isHard ? [reportsKey(timetoken, channel)] : [])
                let decided = try await decide(context, keys) { [thread] snapshot throws(ChatError) in
                    try self.deletion(of: context, thread, isHard: isHard, ifMatch: etag, snapshot)
                }
                try await service.answers.forget(about: timetoken, in: self.channel(channel))
                return decided.value
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        throw ThreadReplyRemoval.isBusy
    }

    /// The maximum number of attempts to delete a message while other requests change its thread.
    private static let tries = 20

    private func deletion(
        of context: MessageContext, _ thread: ThreadReplyRemoval?, isHard: Bool, ifMatch etag: String?,
        _ snapshot: RecordSnapshot
    ) throws(ChatError) -> Decision<Bool> {
        var channel = context.channelRecord(snapshot)
        try context.requireAuthority(in: channel)
        var record = context.record(snapshot)
        let wasThere = record.deletion == nil
        // The message is already deleted in this way: change nothing.
        guard wasThere || isHard && record.deletion?.isHard == false else { return Decision(false) }
        try record.require(etag)
        var removals: [(channel: ChannelID, timetoken: Timetoken)] = []
        var forgotten: [RecordChange] = []
        if isHard {
            let copies = record.remove(at: snapshot.next, by: context.actor.user, in: app)
            removals = [(channel: context.event.channel, timetoken: context.timetoken)] + copies.events
            forgotten = copies.records
        } else {
            record.deletion = .init(at: snapshot.next, by: context.actor.user, isHard: false)
        }
        var shown = channel
        if shown?.pinned == context.timetoken { shown = shown?.pinning(.zero, snapshot) }
        let event = deleted(context, record, in: shown, snapshot)
        var decision = Decision(true, changes: [record.change(in: app)] + forgotten, events: [event])
        decision.removals = removals
        if isHard { removeReports(of: context.timetoken, in: context.channel, snapshot, &decision) }
        if wasThere, let root = try thread?.rest(snapshot, without: [context.event.user]) {
            decision.changes.append(root.change(in: app))
            decision.events.append(
                threadUpdated(root, .replyDeleted, context.timetoken, by: context.actor.user, in: channel, snapshot))
        }
        if let pinned = channel?.pinned, pinned == context.timetoken {
            pin(.zero, in: &channel, context.actor, &decision, snapshot)
        }
        return decision
    }

    private func deleted(
        _ context: MessageContext, _ record: MessageRecord, in channel: ChannelRecord?, _ snapshot: RecordSnapshot
    ) -> EventDraft {
        var event = draft(
            "message.deleted", on: context.channel, kind: .action, by: context.actor.user,
            audience: channel.audience(members: .joined, inside: .participants)
        ) { writer in
            writer.key("message")
            context.message(record, snapshot).print(to: &writer)
            writer.member("hard", record.isGone)
            printChannel(channel, snapshot, to: &writer)
        }
        event.thread = record.replied
        return event
    }
}

extension MessageRecord {
    /// Returns the key of the record of the thread's first message; nil for a message that is not a reply.
    func threadKey(in app: AppID) -> RecordKey? {
        threadOf == .zero ? nil : MessageRecord.key(channel, threadOf, in: app)
    }

    /// The timetoken of the thread's first message; nil for a message that is not a reply.
    var replied: Timetoken? { threadOf == .zero ? nil : threadOf }

    /// True when the message was permanently removed from the event log.
    fileprivate var isGone: Bool { deletion?.isHard ?? false }
}
