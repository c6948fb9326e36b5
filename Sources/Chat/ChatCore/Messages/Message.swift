public import ChatModel
public import JSON

/// A message with its changes. It consists of the event that was sent and the record of its changes.
public struct Message: Sendable {
    /// The event as it was sent.
    public let event: Event
    /// The record of the message's changes: edits, the deletion, and counts of reactions and replies. Empty for a
    /// message without changes.
    public private(set) var record: MessageRecord

    init(_ event: Event, _ record: MessageRecord?) {
        self.event = event
        self.record = record ?? MessageRecord(channel: event.channel.name, timetoken: event.timetoken)
    }

    /// Creates a message that was just sent.
    ///
    /// - Parameter etag: the etag of the record that was stored with the message (`AppendOutcome.messageETag`); nil
    ///   when no record was stored.
    public init(sent event: Event, etag: String?) {
        self.init(event, nil)
        record.threadOf = event.draft.thread ?? .zero
        if let etag { record.etag = etag }
    }

    /// The timetoken of the event. The timetoken identifies the message in its channel.
    public var timetoken: Timetoken { event.timetoken }
    /// The version of the message. The version changes with every edit, deletion, reaction, action and reply.
    public var etag: String { record.etag }
    /// True when the message is deleted. A message that is only marked as deleted remains in the history.
    public var isDeleted: Bool { record.deletion != nil }
    /// The current payload; null when the message is deleted.
    public var data: JSONText { isDeleted ? .null : record.edit?.data ?? event.data }
    /// The metadata of the message; null when there is none or the message is deleted.
    private var meta: JSONText { isDeleted ? .null : event.meta ?? .null }
    /// The text of the payload; nil when the payload has no text.
    public var text: String? { data.saying }

    /// Prints the message in the form of the REST API and of events (`$defs/message` of the built-in schemas).
    ///
    /// - Parameter included: the objects that the reader requested, printed as the member `included`; nil to leave the
    ///   member out.
    public func print(to writer: inout JSONWriter, included: JSONText? = nil) {
        let updated = record.updated == .zero ? timetoken : record.updated
        writer.record(id: event.id, created: timetoken, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            if let included { writer.member("included", included) }
        }
    }

    private func printMembers(to writer: inout JSONWriter) {
        writer.member("timetoken", timetoken)
        writer.member("type", event.type)
        writer.member("kind", event.kind.name)
        writer.member("channel", event.channel.name)
        if let user = event.user { writer.member("user", user) } else { writer.nullMember("user") }
        writer.member("data", data)
        writer.member("meta", meta)
        if let label = event.customType {
            writer.member("custom_type", label)
        } else {
            writer.nullMember("custom_type")
        }
        printHistory(to: &writer)
    }

    /// Prints the members that identify the message. Used for readers who may not read its content.
    func printReference(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", eventAt: event.timetoken)
        writer.member("timetoken", timetoken)
        writer.member("channel", event.channel.name)
        if let user = event.user { writer.member("user", user) } else { writer.nullMember("user") }
        if record.threadOf != .zero { writer.member("thread_of", record.threadOf.description) }
        writer.endObject()
    }

    /// Returns the differences from an earlier state of the message in the members `data`, `meta`, `edited` and
    /// `deleted`.
    func changes(since before: Message) -> RecordDifference {
        RecordDifference(from: before.changeableMembers, to: changeableMembers)
    }

    private var changeableMembers: [(name: String, value: JSONText)] {
        [
            ("data", data), ("meta", meta), ("edited", JSONText { Self.print(edited, to: &$0) }),
            ("deleted", JSONText { Self.print(deleted, to: &$0) }),
        ]
    }

    private typealias ActorAndTime = (at: Timetoken, by: String?)

    private var edited: ActorAndTime? { record.edit.map { ($0.at, $0.by) } }
    private var deleted: ActorAndTime? { record.deletion.map { ($0.at, $0.by) } }

    private func printHistory(to writer: inout JSONWriter) {
        writer.key("edited")
        Self.print(edited, to: &writer)
        writer.key("deleted")
        Self.print(deleted, to: &writer)
        if record.threadOf == .zero {
            writer.nullMember("thread_of")
        } else {
            writer.member("thread_of", record.threadOf.description)
        }
        writer.member("thread", record.thread == MessageThread() ? .null : record.thread.body)
        writer.key("reactions")
        record.printReactions(to: &writer)
    }

    private static func print(_ deed: ActorAndTime?, to writer: inout JSONWriter) {
        guard let deed else { return writer.raw(.null) }
        writer.beginObject()
        writer.member("timetoken", deed.at.description)
        if let user = deed.by { writer.member("by", user) } else { writer.nullMember("by") }
        writer.endObject()
    }
}

extension JSONText {
    /// The text of a message payload: its member `text`, or the payload itself when it is a string; nil when there is
    /// none.
    var saying: String? {
        guard let root = try? JSONDocument(self).root else { return nil }
        return root.string ?? root["text"]?.string
    }

    /// Returns the payload with another text. The other members of the payload are unchanged.
    func saying(_ text: JSONText) -> JSONText {
        if bytes.first == UInt8(ascii: "\"") { return text }
        let others = (rawMembers() ?? []).filter { $0.name != "text" }
        return JSONText(capacity: count + text.count) { writer in
            writer.beginObject()
            writer.member("text", text)
            for (name, value) in others {
                writer.key(text: name)
                writer.raw(value)
            }
            writer.endObject()
        }
    }
}
