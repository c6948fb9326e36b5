public import ChatModel
public import JSON

/// A message as it is now: what was sent, and what became of it.
public struct Message: Sendable {
    /// As it was sent.
    public let event: Event
    public let record: MessageRecord

    init(_ event: Event, _ record: MessageRecord?) {
        self.event = event
        self.record = record ?? MessageRecord(channel: event.channel.name, timetoken: event.timetoken)
    }

    public var timetoken: Timetoken { event.timetoken }
    /// Changes with every edit, deletion, reaction, action and reply.
    public var etag: String { record.etag }
    public var isDeleted: Bool { record.deletion != nil }
    /// The newest payload; null once the message is deleted.
    public var data: JSONText { isDeleted ? .null : record.edit?.data ?? event.data }
    /// What it says, where it is a text.
    public var text: String? { data.saying }

    /// Prints it as the next value of `writer`.
    ///
    /// - Parameter included: The objects that the reader asked for, printed as the member `included`; nil prints none.
    public func print(to writer: inout JSONWriter, included: JSONText? = nil) {
        writer.beginObject()
        writer.member("id", event.id)
        writer.member("timetoken", timetoken.description)
        writer.member("timestamp", timetoken.timestamp)
        writer.member("channel", event.channel.name)
        if let user = event.user { writer.member("user", user) } else { writer.nullMember("user") }
        writer.member("data", data)
        writer.member("meta", event.meta ?? .null)
        if let label = event.customType {
            writer.member("custom_type", label)
        } else {
            writer.nullMember("custom_type")
        }
        printHistory(to: &writer)
        writer.member("etag", etag)
        if let included { writer.member("included", included) }
        writer.endObject()
    }

    private func printHistory(to writer: inout JSONWriter) {
        Self.print("edited", record.edit.map { ($0.at, $0.by) }, to: &writer)
        Self.print("deleted", record.deletion.map { ($0.at, $0.by) }, to: &writer)
        if record.threadOf == .zero {
            writer.nullMember("thread_of")
        } else {
            writer.member("thread_of", record.threadOf.description)
        }
        writer.member("thread", record.thread == MessageThread() ? .null : record.thread.body)
        writer.key("reactions")
        record.printReactions(to: &writer)
    }

    private static func print(_ name: StaticString, _ deed: (at: Timetoken, by: String?)?, to writer: inout JSONWriter)
    {
        guard let deed else { return writer.nullMember(name) }
        writer.key(name)
        writer.beginObject()
        writer.member("timetoken", deed.at.description)
        if let user = deed.by { writer.member("by", user) } else { writer.nullMember("by") }
        writer.endObject()
    }
}

extension JSONText {
    /// The text that a payload says: its member `text`, or the payload itself where it is a string.
    var saying: String? {
        guard let root = try? JSONDocument(self).root else { return nil }
        return root.string ?? root["text"]?.string
    }

    /// The payload saying something else, whatever it has beside the text unchanged.
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
