public import JSON

/// The record of a message's changes since it was sent. The message itself is an event, which never changes. A message
/// without changes has no record.
///
/// The record's id is `channel/timetoken`. For a reply, the record's parent is the id of the message that was replied
/// to, so that a thread can be listed.
public struct MessageRecord: Sendable, Equatable {
    /// An edit of a message.
    public struct Edit: Sendable, Equatable {
        /// The payload after the edit.
        public var data: JSONText
        /// The timetoken of the edit.
        public var at: Timetoken
        /// The user who made the edit; nil when an API key made it and named no user.
        public var by: String?

        /// Creates an edit with its payload.
        public init(data: JSONText, at: Timetoken, by: String?) {
            self.data = data
            self.at = at
            self.by = by
        }
    }

    /// A deletion of a message.
    public struct Deletion: Sendable, Equatable {
        /// The timetoken of the deletion.
        public var at: Timetoken
        /// The user who deleted the message; nil when an API key deleted the message and named no user.
        public var by: String?
        /// True when the message was also removed from the event log. The record remains, so that the message cannot be
        /// changed again.
        public var isHard: Bool

        /// Creates a deletion with its timetoken.
        public init(at: Timetoken, by: String?, isHard: Bool) {
            self.at = at
            self.by = by
            self.isHard = isHard
        }
    }

    /// A reference to an event: its channel and its timetoken.
    public struct Place: Sendable, Equatable {
        /// The name of the channel.
        public var channel: String
        /// The timetoken of the event.
        public var timetoken: Timetoken

        /// Creates a reference to one event.
        public init(channel: String, timetoken: Timetoken) {
            self.channel = channel
            self.timetoken = timetoken
        }
    }

    /// The channel of the message.
    public var channel: String
    /// The timetoken of the message.
    public var timetoken: Timetoken
    /// The latest edit; nil for a message that was not edited.
    public var edit: Edit?
    /// The timetokens of all edits before the latest one, oldest first. Each of these edits has a record of its own
    /// (``key(ofEdit:in:)``).
    public private(set) var earlierEdits: [Timetoken] = []
    /// The deletion; nil for a message that is not deleted.
    public var deletion: Deletion?
    /// The timetokens of the events that contain a copy of the message's text, oldest first. These are events about
    /// edits and undone changes. They are removed together with the message.
    public var copies: [Timetoken] = []
    /// The events that notify mentioned users and contain the message, at most `Limits.mentionsPerMessage`. They are
    /// removed together with the message.
    public var mentions: [Place] = []
    /// The timetoken of the message that this message replies to; zero for a message that is not a reply.
    public var threadOf: Timetoken = .zero
    /// The summary of the replies to the message.
    public var thread = MessageThread()
    /// The number of users for each reaction.
    public var reactions: [ExactText: Int] = [:]
    /// The number of actions other than reactions.
    public var actions = 0
    /// The number of actions on the message that name a channel for its replies (``MessageThread/channel``). All of
    /// them name the same channel.
    public var threadNamings = 0
    /// The version of the record; changes with every change. ``untouched`` for a message without changes.
    public var etag = Self.untouched
    /// The time of the record's last change; zero for a message without changes.
    public var updated: Timetoken = .zero

    /// The etag of a message without changes.
    static let untouched = "0"

    /// Creates the record of a message without changes.
    public init(channel: String, timetoken: Timetoken) {
        self.channel = channel
        self.timetoken = timetoken
    }

    /// The key of the record of the message with this timetoken in a channel.
    public static func key(_ channel: String, _ timetoken: Timetoken, in app: AppID) -> RecordKey {
        RecordKey(.message, parts: [channel, timetoken.description], in: app)
    }

    /// The parent of the records of replies to this message.
    public static func parent(ofRepliesTo timetoken: Timetoken, in channel: String) -> String {
        RecordKey.prefix([channel]) + timetoken.description
    }

    /// The maximum number of elements of ``copies``.
    public static let copiesMost = 256

    /// Adds an event that contains a copy of the message's text to ``copies``.
    ///
    /// - Returns: the timetoken of the oldest copy when there are more than ``copiesMost`` copies; nil otherwise. The
    ///   caller must remove the event with this timetoken from the event log.
    public mutating func recordCopy(at timetoken: Timetoken) -> Timetoken? {
        copies.append(timetoken)
        return copies.count > Self.copiesMost ? copies.removeFirst() : nil
    }

    /// The maximum number of edits that are stored in addition to the latest.
    static let earlierEditsMost = 99

    /// The key of the record that stores an earlier edit. The body of that record has the members of a message action,
    /// and the payload of the edit.
    public func key(ofEdit place: Timetoken, in app: AppID) -> RecordKey {
        RecordKey(
            .messageAction, parts: [channel, timetoken.description, MessageActionRecord.edit, place.description],
            in: app)
    }

    /// Makes `edit` the latest edit, and stores the previous one as an earlier edit.
    ///
    /// - Parameter value: returns the text of the previous edit. The record of that edit stores the text as the value
    ///   of a message action.
    /// - Returns: the changes of the records of earlier edits.
    public mutating func follow(_ edit: Edit, value: (Edit) -> String, in app: AppID) -> [RecordChange] {
        defer { self.edit = edit }
        guard let before = self.edit else { return [] }
        return keep(before, at: earlierEdits.endIndex, value: value(before), in: app)
    }

    /// Adds an edit that was made in the past, in the order of timetokens: as the latest edit or as an earlier one.
    ///
    /// - Parameter value: returns the text of an edit. The record of an earlier edit stores the text as the value of a
    ///   message action.
    /// - Returns: the changes of the records of earlier edits. Nil when the edit is already stored, or when it is older
    ///   than all stored edits and the maximum number of earlier edits is already stored.
    public mutating func insert(_ edit: Edit, value: (Edit) -> String, in app: AppID) -> [RecordChange]? {
        guard let newest = self.edit, edit.at <= newest.at else { return follow(edit, value: value, in: app) }
        guard edit.at != newest.at, !earlierEdits.contains(edit.at) else { return nil }
        let index = earlierEdits.firstIndex { $0 > edit.at } ?? earlierEdits.endIndex
        guard index > 0 || earlierEdits.count < Self.earlierEditsMost else { return nil }
        return keep(edit, at: index, value: value(edit), in: app)
    }

    /// Stores an earlier edit, and removes the oldest one when there are too many.
    private mutating func keep(_ edit: Edit, at index: Int, value: String, in app: AppID) -> [RecordChange] {
        var action = MessageActionRecord(
            channel: channel, message: timetoken, type: MessageActionRecord.edit, value: value, user: edit.by ?? "")
        action.timetoken = edit.at
        let body = JSONText { writer in
            writer.beginObject()
            action.printMembers(to: &writer)
            writer.nullable("by", edit.by)
            writer.member("data", edit.data)
            writer.endObject()
        }
        earlierEdits.insert(edit.at, at: index)
        var changes = [RecordChange(key(ofEdit: edit.at, in: app), body: body)]
        if earlierEdits.count > Self.earlierEditsMost {
            changes.append(RecordChange(key(ofEdit: earlierEdits.removeFirst(), in: app), body: nil))
        }
        return changes
    }

    /// Removes an earlier edit. Returns the change that removes its record.
    public mutating func forget(edit place: Timetoken, in app: AppID) -> RecordChange {
        earlierEdits.removeAll { $0 == place }
        return RecordChange(key(ofEdit: place, in: app), body: nil)
    }

    /// The directory change that stores this record.
    public func change(in app: AppID) -> RecordChange {
        let isListed = threadOf != .zero && deletion?.isHard != true
        return RecordChange(
            Self.key(channel, timetoken, in: app), body: body,
            parent: isListed ? Self.parent(ofRepliesTo: threadOf, in: channel) : nil)
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            if let edit {
                writer.key("edit")
                writer.beginObject()
                writer.member("data", edit.data)
                Self.print(at: edit.at, by: edit.by, to: &writer)
                writer.endObject()
            }
            if let deletion {
                writer.key("deletion")
                writer.beginObject()
                Self.print(at: deletion.at, by: deletion.by, to: &writer)
                writer.member("hard", deletion.isHard)
                writer.endObject()
            }
            if !earlierEdits.isEmpty { writer.member("earlier_edits", earlierEdits.map(\.description)) }
            if !copies.isEmpty { writer.member("copies", copies.map(\.description)) }
            if !mentions.isEmpty {
                writer.key("mentions")
                writer.beginArray()
                for mention in mentions {
                    writer.beginObject()
                    writer.member("channel", mention.channel)
                    writer.member("timetoken", mention.timetoken)
                    writer.endObject()
                }
                writer.endArray()
            }
            if threadOf != .zero { writer.member("thread_of", threadOf.description) }
            if thread != MessageThread() { writer.member("thread", thread.body) }
            if !reactions.isEmpty {
                writer.key("reactions")
                printReactions(to: &writer)
            }
            if actions > 0 { writer.member("actions", actions) }
            if threadNamings > 0 { writer.member("thread_namings", threadNamings) }
            writer.endObject()
        }
    }

    /// Prints the number of users for each reaction as the next value of `writer`: an object with the reactions as
    /// names.
    public func printReactions(to writer: inout JSONWriter) {
        writer.beginObject()
        for (value, count) in reactions.sorted(by: { $0.key < $1.key }) {
            writer.key(text: value.text)
            writer.integer(count)
        }
        writer.endObject()
    }

    private static func print(at: Timetoken, by: String?, to writer: inout JSONWriter) {
        writer.member("timetoken", at.description)
        writer.nullable("by", by)
    }

    /// Reads a stored record; nil when the record does not contain the changes of a message.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let slash = record.key.id.lastIndex(of: "/"),
            let timetoken = Timetoken(text: record.key.id[record.key.id.index(after: slash)...])
        else { return nil }
        self.init(channel: RecordKey.part(record.key.id[..<slash]), timetoken: timetoken)
        if let edit = root["edit"], let data = record.body.rawMember("edit")?.rawMember("data") {
            self.edit = Edit(data: data, at: edit.timetoken("timetoken"), by: edit.text("by"))
        }
        if let deletion = root["deletion"] {
            self.deletion = Deletion(
                at: deletion.timetoken("timetoken"), by: deletion.text("by"), isHard: deletion.flag("hard"))
        }
        earlierEdits = root["earlier_edits"]?.strings?.compactMap { Timetoken(text: $0) } ?? []
        copies = root["copies"]?.strings?.compactMap { Timetoken(text: $0) } ?? []
        mentions = (root["mentions"]?.elements ?? []).compactMap { mention in
            mention.text("channel").map { Place(channel: $0, timetoken: mention.timetoken("timetoken")) }
        }
        threadOf = root.timetoken("thread_of")
        if let thread = root["thread"] { self.thread = MessageThread(thread) }
        for (value, count) in root["reactions"]?.members ?? [] {
            reactions[ExactText(value)] = count.integer.map { Int($0) }
        }
        actions = root.count("actions")
        threadNamings = root.count("thread_namings")
        (etag, updated) = (record.etag, record.updated)
    }
}

extension MessageRecord.Edit {
    /// Reads the record of an earlier edit; nil when the record does not contain an edit.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, root.text("type") == MessageActionRecord.edit,
            let data = record.body.rawMember("data")
        else { return nil }
        self.init(data: data, at: root.timetoken("action_timetoken"), by: root.text("by"))
    }
}
