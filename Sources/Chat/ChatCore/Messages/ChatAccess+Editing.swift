public import ChatModel
public import JSON

/// The new content of an edited message.
public enum MessageContent: Sendable {
    /// A JSON string that replaces the text of the payload. The other members of the payload stay unchanged.
    case text(JSONText)
    /// A payload that replaces the whole payload.
    case data(JSONText)
}

extension ChatAccess {
    /// Changes the content of a message. Allowed for its author and for operators of the channel. If the message
    /// already has this content and `isAction` is false, nothing is changed and no event is emitted.
    ///
    /// - Parameter isAction: true when the client edits the message by adding a message action. Then `timetoken` may
    ///   also be the timetoken of an event of an app's own type. The edit is then rejected if the same user has already
    ///   made a stored edit with the same text.
    /// - Throws: `.notFound` when the message does not exist; `.forbidden` for a user who is neither the author nor an
    ///   operator of the channel; `.tooLarge` for a payload above the size limit; `.gone` when the message is deleted;
    ///   `.stale` when the version of the message is not `etag`; `.conflict` when `isAction` is true and the same user
    ///   has already made a stored edit with the same text.
    public func edit(
        _ timetoken: Timetoken, in channel: String, to content: MessageContent, by named: String?,
        ifMatch etag: String? = nil, asAction isAction: Bool = false
    ) async throws(ChatError) -> Message {
        let context = try await context(timetoken, in: channel, for: "message.updated", by: named, orTyped: isAction)
        let most = limits.dataBytes
        PendingAnswer.current?.concern(timetoken, in: context.event.channel)
        let earlierKeys = isAction ? try await earlierEditKeys(of: context) : []
        let decided = try await decide(context, earlierKeys) { snapshot throws(ChatError) in
            let channel = context.channelRecord(snapshot)
            try context.requireAuthority(in: channel)
            var record = try context.present(snapshot, ifMatch: etag)
            let present = record.edit?.data ?? context.event.data
            guard isAction || !content.repeats(present) else { return Decision(record) }
            let data = content.data(instead: present)
            guard data.count <= most else {
                throw .over(
                    .tooLarge, "data would be \(data.count) bytes of JSON; at most \(most) are accepted",
                    name: "limit_bytes", limit: most, field: "data")
            }
            let edit = MessageRecord.Edit(data: data, at: snapshot.next, by: context.actor.user)
            if isAction {
                let earlier = earlierKeys.compactMap { snapshot[$0].flatMap { MessageRecord.Edit($0) } }
                let known = [record.edit].compactMap(\.self) + earlier
                guard !known.contains(where: edit.repeats) else { throw .attachedBefore }
            }
            let before = Message(context.event, record)
            let earlier = record.follow(edit, value: \.text, in: self.app)
            let event = self.updated(context, record, from: before, in: channel, snapshot)
            let surplus = record.recordCopy(at: snapshot.next)
            var decision = Decision(record, changes: [record.change(in: self.app)] + earlier, events: [event])
            decision.removals = surplus.map { [(context.event.channel, $0)] } ?? []
            return decision
        }
        return Message(context.event, decided)
    }

    /// Undoes an edit, or a deletion that only marked the message as deleted. The message then has its previous content
    /// again. If the edit is not the newest edit, only the stored edit is removed, and the content stays the same.
    /// Allowed for the user who made the change and for operators of the channel.
    ///
    /// - Parameters:
    ///   - deed: the timetoken of the edit or the deletion.
    ///   - isAction: true when the client undoes the change by removing a message action; see
    ///     ``edit(_:in:to:by:ifMatch:asAction:)``.
    /// - Throws: `.notFound` when the message has no edit or deletion with that timetoken; `.forbidden` for a user who
    ///   neither made the change nor is an operator of the channel; `.gone` for an edit of a deleted message; `.stale`
    ///   when another request changed the edits at the same time.
    public func undo(
        _ deed: Timetoken, to timetoken: Timetoken, in channel: String, by named: String?,
        asAction isAction: Bool = false
    ) async throws(ChatError) -> Message {
        let context = try await context(timetoken, in: channel, for: "message.updated", by: named, orTyped: isAction)
        let known = try await directory.read(context.key).flatMap { MessageRecord($0) }
        let root = known?.threadKey(in: app)
        var threadKeys = root.map { [$0] } ?? []
        if let root, let thread = try await directory.read(root).flatMap({ MessageRecord($0) }) {
            threadKeys += threadAuthorKeys(thread, replying: context.event.user)
        }
        let edits = known?.earlierEdits.compactMap { known?.key(ofEdit: $0, in: app) } ?? []
        let decided = try await decide(context, threadKeys + edits) { snapshot throws(ChatError) in
            let channel = context.channelRecord(snapshot)
            var record = context.record(snapshot)
            let before = Message(context.event, record)
            var thread: MessageRecord?
            var forgotten: [RecordChange] = []
            let undone: (type: BuiltInAction, value: String)
            let doer: String?
            if let deletion = record.deletion, deletion.at == deed, !deletion.isHard {
                doer = deletion.by
                record.deletion = nil
                undone = (.deleted, BuiltInAction.deleted.rawValue)
                thread = root.flatMap { snapshot[$0] }.flatMap { MessageRecord($0) }
                let last = thread?.thread.last ?? .zero
                thread?.thread.add(by: context.event.user, at: max(last, timetoken))
            } else if record.deletion != nil {
                throw ChatError(.gone, "the message is deleted; the only allowed change is to remove the deletion")
            } else if let edit = record.edit, edit.at == deed {
                doer = edit.by
                undone = (.edited, edit.text)
                record.edit = try record.earlierEdits.last.map { place throws(ChatError) in
                    try self.earlierEdit(place, of: record, snapshot)
                }
                forgotten = record.edit.map { [record.forget(edit: $0.at, in: self.app)] } ?? []
            } else if record.earlierEdits.contains(deed) {
                let edit = try self.earlierEdit(deed, of: record, snapshot)
                doer = edit.by
                undone = (.edited, edit.text)
                forgotten = [record.forget(edit: deed, in: self.app)]
            } else {
                throw ChatError(.notFound, "the message has no edit and no deletion with this timetoken")
            }
            try context.actor.requireUndoing(of: doer, in: channel)
            let event = self.updated(context, record, from: before, in: channel, snapshot) { writer in
                writer.key("undone")
                writer.beginObject()
                writer.member("type", undone.type.rawValue)
                writer.member("value", undone.value)
                writer.member("action_timetoken", deed.description)
                writer.endObject()
            }
            let surplus = record.recordCopy(at: snapshot.next)
            var decision = Decision(record, changes: [record.change(in: self.app)] + forgotten, events: [event])
            decision.removals = surplus.map { [(context.event.channel, $0)] } ?? []
            if let thread {
                decision.changes.append(thread.change(in: self.app))
                decision.events.append(
                    self.threadUpdated(thread, .replyCreated, timetoken, by: context.actor.user, in: channel, snapshot))
            }
            return decision
        }
        return Message(context.event, decided)
    }

    /// Returns the keys of the stored edits of a message, except the newest edit.
    private func earlierEditKeys(of context: MessageContext) async throws(ChatError) -> [RecordKey] {
        guard let known = try await directory.read(context.key).flatMap({ MessageRecord($0) }) else { return [] }
        return known.earlierEdits.map { known.key(ofEdit: $0, in: app) }
    }

    private func earlierEdit(
        _ place: Timetoken, of record: MessageRecord, _ snapshot: RecordSnapshot
    ) throws(ChatError) -> MessageRecord.Edit {
        guard let edit = snapshot[record.key(ofEdit: place, in: app)].flatMap({ MessageRecord.Edit($0) }) else {
            throw ChatError(.stale, "another request edited the message at the same time; send the request again")
        }
        return edit
    }

    private func updated(
        _ context: MessageContext, _ record: MessageRecord, from before: Message, in channel: ChannelRecord?,
        _ snapshot: RecordSnapshot, _ print: (inout JSONWriter) -> Void = { _ in }
    ) -> EventDraft {
        let message = context.message(record, snapshot)
        var event = draft(
            "message.updated", on: context.channel, kind: .action, by: context.actor.user,
            audience: channel.audience(members: .joinedButOrigin, inside: .participantsButOrigin)
        ) { writer in
            writer.key("message")
            message.print(to: &writer)
            message.changes(since: before).print(to: &writer)
            print(&writer)
            printChannel(channel, snapshot, to: &writer)
        }
        event.thread = record.replied
        context.limit(&event)
        return event
    }
}

extension MessageRecord.Edit {
    /// Returns true when both edits have the same text and the same user. The message actions of these edits would be
    /// equal.
    fileprivate func repeats(_ other: Self) -> Bool {
        ExactText(text) == ExactText(other.text) && by.map { ExactText($0) } == other.by.map { ExactText($0) }
    }
}

extension MessageContent {
    fileprivate func data(instead old: JSONText) -> JSONText {
        switch self {
        case .text(let text): old.saying(text)
        case .data(let data): data
        }
    }

    /// Returns true when the payload `present` already has this content: the same text, or JSON with the same tokens.
    fileprivate func repeats(_ present: JSONText) -> Bool {
        switch self {
        case .text(let text):
            present.saying.map { ExactText($0) } == (try? JSONDocument(text).root.string).map { ExactText($0) }
        case .data(let data): data.hasTokens(of: present)
        }
    }
}

extension Message {
    /// Creates the message from its event and from the message record that a decision has stored.
    init(_ event: Event, _ decided: Decided<MessageRecord>) {
        var record = decided.value
        if let stored = decided.records.first(where: { $0.key.kind == .message }) {
            (record.etag, record.updated) = (stored.etag, stored.updated)
        }
        self.init(event, record)
    }
}
