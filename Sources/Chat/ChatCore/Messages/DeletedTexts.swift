public import ChatModel
import JSON

/// Removes from events the texts of messages marked as deleted. The text of a message is in the event of the message,
/// and in events about edits, mentions and reports of the message. The stored events are not changed, so that a
/// deletion can be undone.
///
/// A `channel.activity` event contains the newest message of a channel. If this message is no longer in the event log,
/// it is removed from the `channel.activity` event.
struct DeletedTexts: Sendable {
    let log: any EventLog
    let directory: any Directory

    /// Returns the events in the same order, without the texts of deleted messages.
    ///
    /// - Parameter mayRead: a function that returns true when the reader may see the text of a deleted message. Its
    ///   arguments are the deletion and the record of the message's channel. Nil to remove the texts of all deleted
    ///   messages.
    func withheld(
        from events: [Event],
        unless mayRead: (@Sendable (MessageRecord.Deletion, ChannelRecord?) -> Bool)? = nil
    ) async throws(ChatError) -> [Event] {
        var places: [(index: Int, message: RecordKey, channel: RecordKey)] = []
        for (index, event) in events.enumerated() {
            guard let (channel, timetoken) = event.quotedMessage else { continue }
            let app = event.channel.app
            places.append(
                (index, MessageRecord.key(channel, timetoken, in: app), ChannelRecord.key(channel, in: app)))
        }
        guard !places.isEmpty else { return events }
        let records = try await directory.read(places.map(\.message))
        var marked: [(index: Int, deletion: MessageRecord.Deletion, channel: RecordKey)] = []
        for (place, record) in zip(places, records) {
            guard let deletion = record.flatMap({ MessageRecord($0) })?.deletion else { continue }
            marked.append((place.index, deletion, place.channel))
        }
        var shown = events
        for index in try await removed(places.map(\.index), of: events) { shown[index] = events[index].withoutText }
        guard !marked.isEmpty else { return shown }
        let channels = mayRead == nil ? marked.map { _ in nil } : try await directory.read(marked.map(\.channel))
        for (place, channel) in zip(marked, channels) {
            if let mayRead, mayRead(place.deletion, channel.flatMap { ChannelRecord($0) }) { continue }
            shown[place.index] = events[place.index].withoutText
        }
        return shown
    }

    /// Returns the indexes of `channel.activity` events whose message is no longer in the log. The method reads the
    /// event log, because a deletion by range leaves no other trace of a message that has no record.
    private func removed(_ places: [Int], of events: [Event]) async throws(ChatError) -> [Int] {
        var (indices, requests): ([Int], [HistoryRequest]) = ([], [])
        for index in places where events[index].isNamedOnly {
            guard let timetoken = events[index].quotedMessage?.timetoken else { continue }
            var request = HistoryRequest(
                channel: events[index].channel, after: Timetoken(max(timetoken.rawValue, 1) - 1),
                before: Timetoken(timetoken.rawValue + 1), limit: 1)
            request.countMost = 1
            indices.append(index)
            requests.append(request)
        }
        guard !requests.isEmpty else { return [] }
        return zip(indices, try await log.counts(requests)).filter { $0.1 == 0 }.map(\.0)
    }
}

extension ChatAccess {
    /// Returns the events in the form in which the caller may read them. The text of a message marked as deleted is
    /// removed, unless the caller may undo the deletion.
    func withoutDeletedTexts(_ events: [Event]) async throws(ChatError) -> [Event] {
        let reader: Actor? =
            if let user = caller.user {
                caller.scopes.allow(.emit) ? Actor(user: user, isManager: false) : nil
            } else {
                caller.scopes.allow(.manage) ? Actor(user: nil, isManager: true) : nil
            }
        // Managers may read all texts. Most programs are managers, so no records are read for them.
        if showsDeletedTexts || reader?.isManager == true { return events }
        let texts = DeletedTexts(log: log, directory: directory)
        guard let reader else { return try await texts.withheld(from: events) }
        return try await texts.withheld(from: events) { deletion, channel in
            do throws(ChatError) {
                try reader.requireUndoing(of: deletion.by, in: channel)
                return true
            } catch {
                return false
            }
        }
    }
}

extension Actor {
    /// Requires the right to undo a change of a message. The user who made the change has this right, and so do
    /// operators of the channel. The author of the message does not have this right, so that an author cannot undo a
    /// change by an operator.
    ///
    /// - Parameter doer: the user who made the change; nil when an operator of the app made the change.
    /// - Throws: `.forbidden` without the right.
    func requireUndoing(of doer: String?, in channel: ChannelRecord?) throws(ChatError) {
        if let doer { try require(over: doer, in: channel) } else { try requireOperator(of: channel) }
    }
}

extension Event {
    /// The channel and timetoken of the message whose text the event contains; nil when the event contains no text of a
    /// message.
    fileprivate var quotedMessage: (channel: String, timetoken: Timetoken)? {
        if isNamedOnly {
            let message = data.rawMember("last_message").flatMap { try? JSONDocument($0) }?.root
            return message?["timetoken"]?.string.flatMap { Timetoken(text: $0) }.map { (channel.name, $0) }
        }
        guard retention == .kept else { return nil }
        guard Self.copies.contains(type) else { return isMessage ? (channel.name, timetoken) : nil }
        guard let message = (try? JSONDocument(data))?.root["message"], let channel = message["channel"]?.string,
            let timetoken = message["timetoken"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        return (channel, timetoken)
    }

    /// The event in the form in which it may be copied out of the event log. For a `channel.activity` event, the
    /// payload and `meta` of `last_message` are null: the event is ephemeral, so its copies cannot be found when that
    /// message is deleted.
    public var forCopies: Event {
        guard isNamedOnly else { return self }
        var draft = draft
        draft.data = data.replacing { name, value in
            name == "last_message" ? value.replacing { $0 == "data" || $0 == "meta" ? .null : $1 } : value
        }
        return Event(timetoken: timetoken, draft: draft)
    }

    /// A copy of the event without the payload of the message, and without other copies of the message's text.
    fileprivate var withoutText: Event {
        var draft = draft
        draft.wire = nil
        if isNamedOnly {
            draft.data = data.replacing { name, value in name == "last_message" ? .null : value }
        } else if Self.copies.contains(type) {
            draft.data = Self.withoutText(data)
        } else {
            draft.data = .null
            // The metadata of a message may contain a quoted text and the names of mentioned users.
            draft.meta = nil
        }
        return Event(timetoken: timetoken, draft: draft)
    }

    /// Returns the data of an event with null instead of the message's payload, and without the changes of the payload.
    private static func withoutText(_ data: JSONText) -> JSONText {
        data.replacing { name, value in
            switch name {
            case "message": value.replacing { $0 == "data" || $0 == "meta" ? .null : $1 }
            case "changes": JSONText(trusted: Array("[]".utf8))
            case "undone": value.replacing { $0 == "value" ? .null : $1 }
            // Reports by PubNub clients have the text in this member.
            case "text": .null
            default: value
            }
        }
    }

    /// The types of events that contain a copy of a message's text.
    private static let copies: Set<String> = ["message.updated", "user.mentioned", "report.created"]
}

extension JSONText {
    /// Returns a copy of this JSON object in which `value` computes the new value of each member.
    fileprivate func replacing(_ value: (_ name: String, _ old: JSONText) -> JSONText) -> JSONText {
        JSONText(capacity: count) { writer in
            writer.beginObject()
            for (name, old) in rawMembers() ?? [] {
                writer.key(text: name)
                writer.raw(value(name, old))
            }
            writer.endObject()
        }
    }
}
