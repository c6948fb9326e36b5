public import ChatModel
import JSON

/// The action types that are features of the gateway. PubNub chat clients use the same names.
enum BuiltInAction: String { case reactions, edited, deleted, threadRootId }

extension ChatAccess {
    /// Adds an action to a message. The type `reactions` adds a reaction, and `edited` edits the message. The type
    /// `deleted` with the value `deleted` deletes the message. The type `threadRootId` names the channel of the
    /// message's thread.
    ///
    /// - Parameter evenDeleted: true to allow further actions of the types `deleted` and `threadRootId` on a message
    ///   that is marked as deleted. Clients that delete and restore messages by actions add actions of both types. A
    ///   deleted message never accepts a reaction or an edit.
    /// - Throws: `.notFound` when there is no such message; `.malformed` for a bad type or value; `.conflict` when the
    ///   user has already added the same action, or when the message is already deleted; `.gone` for another action on
    ///   a deleted message; `.tooMany` when the message has the maximum number of actions.
    public func addAction(
        _ type: String, _ value: String, to timetoken: Timetoken, in channel: String, by user: String?,
        evenDeleted: Bool = false
    ) async throws(ChatError) -> MessageActionRecord {
        try Self.check(type, "an action's type", 1...50, field: "type")
        try Self.check(value, "an action's value", 1...4096, field: "value")
        let named = try Self.named(try actor(user, field: "user"))
        switch BuiltInAction(rawValue: type) {
        case .edited:
            let message = try await edit(
                timetoken, in: channel, to: .text(JSONText(string: value)), by: user, asAction: true)
            return Self.record(type, value, on: message, message.record.edit.map { ($0.at, $0.by) })
        case .deleted where value == BuiltInAction.deleted.rawValue:
            let isNew = try await delete(timetoken, in: channel, isHard: false, by: user, asAction: true)
            let message = try await messages(of: [try await sent(timetoken, in: channel, orTyped: true)])[0]
            let recorded = Self.record(type, value, on: message, message.record.deletion.map { ($0.at, $0.by) })
            if isNew { return recorded }
            guard evenDeleted, ExactText(recorded.user) != ExactText(named) else { throw .attachedBefore }
            return try await add(type, value, timetoken, channel, user, evenDeleted: true)
        case .reactions, .deleted, .threadRootId, nil:
            if type == MessageActionRecord.reaction { try Self.check(value, "a reaction", 1...128, field: "value") }
            let isOfDeleting = type == BuiltInAction.deleted.rawValue || type == BuiltInAction.threadRootId.rawValue
            return try await add(type, value, timetoken, channel, user, evenDeleted: evenDeleted && isOfDeleting)
        }
    }

    private func add(
        _ type: String, _ value: String, _ timetoken: Timetoken, _ channel: String, _ user: String?, evenDeleted: Bool
    ) async throws(ChatError) -> MessageActionRecord {
        var action = MessageActionRecord(channel: channel, message: timetoken, type: type, value: value, user: "")
        let context = try await context(timetoken, in: channel, for: action.eventType(true), by: user, orTyped: true)
        action.user = try Self.named(context.actor)
        let (attached, isNew) = try await attach(action, context, evenDeleted: evenDeleted)
        guard isNew else { throw .attachedBefore }
        return attached
    }

    /// Returns an edit or a deletion as an action of the user who made it.
    private static func record(
        _ type: String, _ value: String, on message: Message, _ recorded: (at: Timetoken, by: String?)?
    ) -> MessageActionRecord {
        var action = MessageActionRecord(
            channel: message.event.channel.name, message: message.timetoken, type: type, value: value,
            user: recorded?.by ?? "")
        action.timetoken = recorded?.at ?? .zero
        return action
    }

    /// Removes an action; an edit or a deletion is undone. Allowed for the action's user and for operators of the
    /// channel.
    ///
    /// - Parameter place: the timetoken of the action.
    /// - Throws: `.notFound` when there is no such action; `.forbidden` for another user's action, unless the caller is
    ///   an operator of the channel.
    public func removeAction(
        _ place: Timetoken, from timetoken: Timetoken, in channel: String, by user: String?
    ) async throws(ChatError) {
        try Names.check(channel: channel)
        _ = try actor(user, field: "user")
        var query = RecordQuery(.messageAction, in: app, limit: 1)
        query.idPrefix = MessageActionRecord.prefix(channel, timetoken)
        query.filter = .compare(field: "action_timetoken", .equal, .string(place.description))
        let found = try await directory.list(query).items.first.flatMap { MessageActionRecord($0) }
        guard let action = found, action.type != MessageActionRecord.edit else {
            _ = try await undo(place, to: timetoken, in: channel, by: user, asAction: true)
            return
        }
        _ = try await detach(
            action, try await context(timetoken, in: channel, for: action.eventType(false), by: user, orTyped: true))
    }

    /// Returns one page of the actions on a message, ordered by type, value and user. Edits and deletions are left out,
    /// because they are part of the message.
    ///
    /// - Throws: the errors of ``message(_:in:)``; `.malformed` for a bad query.
    public func actions(
        of timetoken: Timetoken, in channel: String, _ list: RecordList
    ) async throws(ChatError) -> Page<MessageActionRecord> {
        _ = try await message(timetoken, in: channel)
        return try await actions(beginning: MessageActionRecord.prefix(channel, timetoken), list)
    }

    func actions(
        beginning prefix: String, _ list: RecordList
    ) async throws(ChatError) -> Page<MessageActionRecord> {
        var query = RecordQuery(.messageAction, in: app, limit: list.limit)
        query.idPrefix = prefix
        query.filter = .not(.compare(field: "type", .equal, .string(MessageActionRecord.edit)))
        return try await page(query, list, created: \.timetoken) { records in
            records.map { MessageActionRecord($0) }
        }
    }
}

extension ChatError {
    static let attachedBefore = ChatError(.conflict, "this user has already attached the same action to this message")
}
