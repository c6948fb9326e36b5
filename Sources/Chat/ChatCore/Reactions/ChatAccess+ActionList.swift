public import ChatModel
import JSON

/// Lists of the actions on messages, in the order of their timetokens. Edits and deletions are listed as actions of the
/// users who made them.
extension ChatAccess {
    /// Returns the newest actions of a channel between two timetokens, oldest first, and whether there are earlier
    /// actions in the range.
    ///
    /// - Parameters:
    ///   - after: the exclusive lower bound.
    ///   - before: the exclusive upper bound.
    ///   - limit: the maximum number of actions: 1 to `Limits.pageMost`.
    ///   - thread: a condition on the messages: only messages of one thread, only messages outside of threads, or all.
    /// - Throws: `.forbidden` when the caller may not read the channel; `.malformed` for a bad name.
    public func actions(
        in channel: String, after: Timetoken, before: Timetoken, limit: Int, thread: HistoryRequest.Thread = .any
    ) async throws(ChatError) -> (actions: [MessageActionRecord], hasMore: Bool) {
        try await requireAccess(of: channel)
        var before = before
        while true {
            let page = try await attached(to: channel, ActionRange(after: after, before: before), limit)
            let present = try await present(page.actions, thread)
            guard present.isEmpty, page.hasMore, let oldest = page.actions.first?.timetoken else {
                return (present, page.hasMore)
            }
            before = oldest
        }
    }

    /// Returns the actions whose message still exists. The records of the actions of removed messages are deleted
    /// later; see `ChatService.keepGleaning`.
    private func present(
        _ actions: [MessageActionRecord], _ thread: HistoryRequest.Thread
    ) async throws(ChatError) -> [MessageActionRecord] {
        var isThere: [Timetoken: Bool] = [:]
        for message in actions.map(\.message) where isThere[message] == nil {
            isThere[message] = try await log.event(at: message, in: app).map { thread.holds($0) } ?? false
        }
        return actions.filter { isThere[$0.message] == true }
    }

    private func attached(
        to channel: String, _ range: ActionRange, _ limit: Int
    ) async throws(ChatError) -> (actions: [MessageActionRecord], hasMore: Bool) {
        var found: [MessageActionRecord] = []
        var hasMore = false
        for (kind, field) in ActionRange.places {
            var query = RecordQuery(kind, in: app, limit: limit)
            query.idPrefix = RecordKey.prefix([channel])
            query.filter = range.filter(field)
            query.sort = [(.field(field), false)]
            let page = try await directory.list(query)
            found += page.items.flatMap {
                kind == .message ? Self.actionRecords($0) : [MessageActionRecord($0)].compactMap(\.self)
            }
            hasMore = hasMore || page.hasMore
        }
        // A message that was both edited and deleted is in two of the lists, so its actions may occur twice.
        let sorted = found.filter { range.contains($0.timetoken) }.sorted { $0.timetoken > $1.timetoken }.withoutRepeats
        return (sorted.prefix(limit).reversed(), hasMore || sorted.count > limit)
    }

    /// Returns the actions on each of the messages, by the message's timetoken. The actions are ordered oldest first;
    /// for each message, at most the newest 1000 stored actions are returned, and also the latest edit and the
    /// deletion.
    ///
    /// - Throws: the errors of the store.
    public func actions(of events: [Event]) async throws(ChatError) -> [Timetoken: [MessageActionRecord]] {
        var all: [Timetoken: [MessageActionRecord]] = [:]
        for message in try await messages(of: events) {
            let record = message.record
            var actions = Self.actionRecords(record, in: record.channel)
            if record.actions > 0 || !record.reactions.isEmpty || !record.earlierEdits.isEmpty {
                let prefix = MessageActionRecord.prefix(record.channel, record.timetoken)
                var query = RecordQuery(.messageAction, in: app, limit: Self.shownMost)
                query.idPrefix = prefix
                query.sort = [(.field("action_timetoken"), false)]
                actions += try await directory.list(query).items.compactMap { MessageActionRecord($0) }
            }
            if !actions.isEmpty { all[message.timetoken] = actions.sorted { $0.timetoken < $1.timetoken } }
        }
        return all
    }

    /// The maximum number of stored actions returned with one message, besides the latest edit and the deletion.
    private static let shownMost = 1000

    /// Returns the action with the timetoken `place` on the message with the timetoken `timetoken`; nil when there is
    /// none.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel; `.malformed` for a bad name.
    public func action(
        _ place: Timetoken, of timetoken: Timetoken, in channel: String
    ) async throws(ChatError) -> MessageActionRecord? {
        try await requireAccess(of: channel)
        var query = RecordQuery(.messageAction, in: app, limit: 1)
        query.idPrefix = MessageActionRecord.prefix(channel, timetoken)
        query.filter = .compare(field: "action_timetoken", .equal, .string(place.description))
        if let record = try await directory.list(query).items.first { return MessageActionRecord(record) }
        let message = try await directory.read(MessageRecord.key(channel, timetoken, in: app))
        return message.map { Self.actionRecords($0) }?.first { $0.timetoken == place }
    }

    /// Returns true when the message was removed permanently. The record of a removal is stored for
    /// `Limits.repeatWindow`.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel.
    public func isRemoved(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> Bool {
        try await removed(timetoken, in: channel) != nil
    }

    /// Returns true when a reply of the thread was removed permanently. The record of a removal is stored for
    /// `Limits.repeatWindow`.
    ///
    /// - Throws: `.forbidden` when the caller may not read the channel of the thread's parent message.
    public func isRemoved(_ timetoken: Timetoken, in thread: MappedThread) async throws(ChatError) -> Bool {
        try await removed(timetoken, in: thread.parent)?.threadOf == thread.root
    }

    private func removed(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> MessageRecord? {
        try await requireAccess(of: channel)
        let record = try await directory.read(MessageRecord.key(channel, timetoken, in: app))
        return record.flatMap { MessageRecord($0) }.flatMap { $0.deletion?.isHard == true ? $0 : nil }
    }

    private static func actionRecords(_ record: Record) -> [MessageActionRecord] {
        MessageRecord(record).map { actionRecords($0, in: $0.channel) } ?? []
    }

    private static func actionRecords(_ record: MessageRecord, in channel: String) -> [MessageActionRecord] {
        var actionRecords: [MessageActionRecord] = []
        func add(_ type: BuiltInAction, _ value: String, _ at: Timetoken, _ by: String?) {
            var action = MessageActionRecord(
                channel: channel, message: record.timetoken, type: type.rawValue, value: value, user: by ?? "")
            action.timetoken = at
            actionRecords.append(action)
        }
        if let edit = record.edit { add(.edited, edit.text, edit.at, edit.by) }
        if let deletion = record.deletion, !deletion.isHard {
            add(.deleted, BuiltInAction.deleted.rawValue, deletion.at, deletion.by)
        }
        return actionRecords
    }
}

extension HistoryRequest.Thread {
    fileprivate func holds(_ event: Event) -> Bool {
        switch self {
        case .any: true
        case .none: event.draft.thread == nil
        case .of(let root): event.draft.thread == root
        }
    }
}

/// A range between two timetokens, both exclusive. Records store timetokens as texts with the same number of digits, so
/// that their order is the order of the texts.
private struct ActionRange {
    static let places: [(kind: RecordKind, field: String)] = [
        (.messageAction, "action_timetoken"), (.message, "edit.timetoken"), (.message, "deletion.timetoken"),
    ]
    private static let digits = 17
    private static let last = Timetoken(99_999_999_999_999_999)

    let after: Timetoken
    let before: Timetoken

    func contains(_ place: Timetoken) -> Bool { place > after && place < before }

    func filter(_ field: String) -> RecordFilter {
        .and([
            .compare(field: field, .greater, .string(Self.text(after))),
            .compare(field: field, .less, .string(Self.text(before))),
        ])
    }

    private static func text(_ place: Timetoken) -> String {
        let text = min(place, last).description
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

extension MessageRecord.Edit {
    /// The value of the action by which PubNub clients receive this edit: the text of the edited payload, or the whole
    /// payload as JSON when it has no text.
    var text: String { data.saying ?? data.description }
}

extension [MessageActionRecord] {
    /// The actions without duplicates. The actions must be sorted by timetoken.
    fileprivate var withoutRepeats: [MessageActionRecord] {
        var actions: [MessageActionRecord] = []
        for action in self where actions.last != action { actions.append(action) }
        return actions
    }
}
