public import ChatModel
import JSON

/// A message that was sent in another system, to be imported with its original time and its actions.
public struct ImportMessage: Sendable {
    /// An action on the message: a reaction, an edit, a deletion, the channel of its thread, or an action of a type of
    /// the app.
    public struct Action: Sendable {
        /// The type: `reactions`, `edited`, `deleted`, `threadRootId` or a type of the app.
        var type: String
        /// The value: for example, an emoji for a reaction, or the new text for an edit.
        var value: String
        /// The user who performed the action.
        var user: String
        /// The timetoken of the action, which is the same in both systems.
        var at: Timetoken

        /// Creates an action with its original time.
        public init(type: String, value: String, user: String, at: Timetoken) {
            self.type = type
            self.value = value
            self.user = user
            self.at = at
        }
    }

    /// The maximum number of actions in one import of a message. One read of the store loads the records of all these
    /// actions. To import more, import the same message again with further actions.
    static let actionsMost = 1000

    /// The event of the message, in the form in which it would be emitted.
    var draft: EventDraft
    /// The timetoken of the message, which is the same in both systems.
    var at: Timetoken
    /// The actions on the message, in any order.
    var actions: [Action]

    /// Creates a message with its original time.
    public init(_ draft: EventDraft, at: Timetoken, actions: [Action] = []) {
        self.draft = draft
        self.at = at
        self.actions = actions
    }
}

/// The result of importing a message or a record.
public struct ImportResult: Sendable {
    /// False when the message or record existed before.
    public var isNew: Bool
    /// The timetoken of the imported message; nil for a record. The new timetoken differs from the original timetoken
    /// when another event already has the original timetoken.
    public var place: Timetoken?
    /// The number of actions that were added to the message.
    public var attached = 0

    init(isNew: Bool, place: Timetoken? = nil) {
        self.isNew = isNew
        self.place = place
    }
}

/// Imports messages into the past of the event log (`EventDraft.past`). Imported messages are in the history, but are
/// not announced to streams or webhooks.
extension ChatAccess {
    /// The built-in types that imported messages may have, besides the app's own types: messages, mentions of users,
    /// and the events that PubNub clients store among messages. All other built-in events are consequences of record
    /// changes.
    private static let typesOfThePast: Set<String> = [
        BuiltInTypes.messageCreated, "user.mentioned", "member.invited", "report.created", "user.banned", "user.muted",
        "user.unbanned",
    ]

    /// Imports messages, each with its own time. A message that already exists stays unchanged, but missing actions are
    /// added to it.
    ///
    /// - Returns: the result of each message, in the same order. A rejected message does not prevent the import of the
    ///   others.
    /// - Throws: `.forbidden` without the scope `manage`, and for a user's credential; `.tooMany` when the caller
    ///   exceeds its rate limits; the errors of the store.
    public func move(_ messages: [ImportMessage]) async throws(ChatError) -> [Result<ImportResult, ChatError>] {
        try caller.require(.manage)
        try caller.demandNoUser()
        var results = [Result<ImportResult, ChatError>?](repeating: nil, count: messages.count)
        var drafts: [(index: Int, draft: EventDraft)] = []
        var work = ValidationBudget()
        for (index, message) in messages.enumerated() {
            do throws(ChatError) {
                drafts.append((index, try await draft(of: message, within: &work)))
            } catch {
                results[index] = .failure(error)
            }
        }
        guard !drafts.isEmpty else { return results.compactMap(\.self) }
        if let meters = caller.meters { try meters.admit(events: drafts.count, at: service.clock.now) }
        let appended = try await log.append(drafts.map(\.draft), claim: nil).events
        for ((index, _), place) in zip(drafts, appended) {
            do throws(ChatError) {
                var moved = ImportResult(isNew: !place.isDuplicate, place: place.event.timetoken)
                moved.attached = try await attach(messages[index].actions, to: place.event)
                results[index] = .success(moved)
            } catch {
                results[index] = .failure(error)
            }
        }
        return results.compactMap(\.self)
    }

    private func draft(
        of message: ImportMessage, within work: inout ValidationBudget
    ) async throws(ChatError) -> EventDraft {
        var draft = message.draft
        if draft.kind != .file { draft.kind = .message }
        draft.retention = .kept
        draft.allowsBuiltInType = Self.typesOfThePast.contains(draft.type)
        try check(&draft)
        draft.trace = nil
        let now = service.clock.now
        guard message.at > .zero, message.at < now else {
            throw ChatError(.invalid, "the timetoken \(message.at) must be in the past", slug: "not_past")
        }
        let ofType = try service.eventTypes.admit(imported: draft, in: app, within: &work)
        if let ofType {
            draft.expires = message.at.adding(ofType)
            draft.isEndedByType = true
        }
        for life in [ofType, service.keyring.app(app)?.retention].compactMap(\.self)
        where message.at.adding(life) <= now {
            throw ChatError(
                .gone,
                "the message is older than the retention of the app or of the event type; increase their 'retention_hours' first",
                slug: "outlived")
        }
        guard message.actions.count <= ImportMessage.actionsMost else {
            throw ChatError(
                .tooLarge,
                "one record may have at most \(ImportMessage.actionsMost) actions; send the other actions in another record for the same message"
            )
        }
        for action in message.actions {
            try Self.check(action.type, "an action's type", 1...50, field: "actions")
            try Self.check(action.value, "an action's value", 1...4096, field: "actions")
            try Names.check(user: action.user)
            guard action.at < now else {
                throw ChatError(.invalid, "the timetoken \(action.at) must be in the past", slug: "not_past")
            }
        }
        draft.past = message.at
        draft.audience = try await audience(of: draft)
        return draft
    }

    /// Adds imported actions to a message.
    ///
    /// - Returns: the number of actions that did not exist before.
    private func attach(_ actions: [ImportMessage.Action], to event: Event) async throws(ChatError) -> Int {
        guard !actions.isEmpty else { return 0 }
        let channel = event.channel.name
        let key = MessageRecord.key(channel, event.timetoken, in: app)
        let actions = actions.sorted { $0.at < $1.at }
        let records = actions.map { action in
            var record = MessageActionRecord(
                channel: channel, message: event.timetoken, type: action.type, value: action.value, user: action.user)
            record.timetoken = action.at
            return record
        }
        let limits = limits
        return try await decide([key] + records.map { $0.key(in: app) }) { snapshot throws(ChatError) in
            var message =
                snapshot[key].flatMap { MessageRecord($0) }
                ?? MessageRecord(channel: channel, timetoken: event.timetoken)
            var changes: [RecordChange] = []
            var edits: [RecordKey: RecordChange] = [:]
            var taken: Set<RecordKey> = []
            var attached = 0
            for record in records {
                let recordKey = record.key(in: self.app)
                switch BuiltInAction(rawValue: record.type) {
                case .deleted:
                    guard message.deletion == nil else { continue }
                    message.deletion = .init(at: record.timetoken, by: record.user, isHard: false)
                    attached += 1
                case .edited:
                    guard let earlier = message.apply(edit: record, of: event, in: self.app) else { continue }
                    // If a message has many edits, an edit may be stored and removed again in the same import. So only
                    // the last change of each key is written.
                    for change in earlier { edits[change.key] = change }
                    attached += 1
                case .reactions, .threadRootId, nil:
                    guard snapshot[recordKey] == nil, taken.insert(recordKey).inserted else { continue }
                    try message.apply(record, within: limits)
                    changes.append(RecordChange(recordKey, body: record.body))
                    attached += 1
                }
            }
            guard attached > 0 else { return Decision(0) }
            return Decision(attached, changes: changes + edits.values + [message.change(in: self.app)])
        }.value
    }
}

extension MessageRecord {
    /// Inserts an imported edit into the edits of this message, which are ordered by timetoken.
    ///
    /// - Returns: the record changes to commit together with the change of this record, see
    ///   ``MessageRecord/insert(_:value:in:)``. Nil when the edit is not inserted, or the message was permanently
    ///   deleted.
    fileprivate mutating func apply(
        edit action: MessageActionRecord, of event: Event, in app: AppID
    ) -> [RecordChange]? {
        guard deletion?.isHard != true else { return nil }
        let data = event.data.saying(JSONText(string: action.value))
        return insert(Edit(data: data, at: action.timetoken, by: action.user), value: \.text, in: app)
    }
}
