public import ChatModel
import JSON

/// Removes the texts of messages that are marked as deleted from events: the event of the message, and those of its
/// edits, mentions and reports. The texts stay stored, so that a deletion can be undone.
///
/// It also removes messages that are no longer in the log from `channel.activity`, because deletions in the log do not
/// reach these events.
struct DeletedTexts: Sendable {
    let log: any EventLog
    let directory: any Directory

    /// The events in their order, without the texts of deleted messages.
    ///
    /// - Parameter mayRead: decides, with the channel's record, whether the text of a deleted message stays; nil
    ///   removes all such texts.
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

    /// The indexes of `channel.activity` events whose message is no longer in the log. A deletion by range leaves no
    /// record for a message that had none.
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
    /// The events as the caller may read them. The text of a message that is marked as deleted stays for callers who
    /// may undo the deletion.
    func withoutDeletedTexts(_ events: [Event]) async throws(ChatError) -> [Event] {
        let reader: Actor? =
            if let user = caller.user {
                caller.scopes.allow(.emit) ? Actor(user: user, isManager: false) : nil
            } else {
                caller.scopes.allow(.manage) ? Actor(user: nil, isManager: true) : nil
            }
        // Most programs may read everything, which costs nothing.
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
    /// Requires the right to undo a change of a message. The user who made the change and operators over that user have
    /// it; the author of the message does not, so that authors cannot undo a moderator's change.
    ///
    /// - Parameter doer: the user who made the change; nil for an operator of the app.
    /// - Throws: `.forbidden`.
    func requireUndoing(of doer: String?, in channel: ChannelRecord?) throws(ChatError) {
        if let doer { try require(over: doer, in: channel) } else { try requireOperator(of: channel) }
    }
}

extension Event {
    /// The message whose text the event contains; nil when it contains none.
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

    /// The event as it may be copied out of the log. A deletion does not reach copies of a passing event, so the text
    /// of the last message in `channel.activity` is left out.
    public var forCopies: Event {
        guard isNamedOnly else { return self }
        var draft = draft
        draft.data = data.replacing { name, value in
            name == "last_message" ? value.replacing { $0 == "data" || $0 == "meta" ? .null : $1 } : value
        }
        return Event(timetoken: timetoken, draft: draft)
    }

    /// The event with null in place of the message's text.
    fileprivate var withoutText: Event {
        var draft = draft
        draft.wire = nil
        draft.data =
            if isNamedOnly {
                data.replacing { name, value in name == "last_message" ? .null : value }
            } else {
                Self.copies.contains(type) ? Self.withoutText(data) : .null
            }
        return Event(timetoken: timetoken, draft: draft)
    }

    /// The object with null for the message's payload, and without the changes of the payload.
    private static func withoutText(_ data: JSONText) -> JSONText {
        data.replacing { name, value in
            switch name {
            case "message": value.replacing { $0 == "data" || $0 == "meta" ? .null : $1 }
            case "changes": JSONText(trusted: Array("[]".utf8))
            case "undone": value.replacing { $0 == "value" ? .null : $1 }
            // The member that contains the text in reports of another service's clients.
            case "text": .null
            default: value
            }
        }
    }

    /// The types of events that repeat a message's text.
    private static let copies: Set<String> = ["message.updated", "user.mentioned", "report.created"]
}

extension JSONText {
    /// The object with some members' values replaced.
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
