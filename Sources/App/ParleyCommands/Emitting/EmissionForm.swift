import JSON
import Signing

/// What the options of `emit` say about every event; prints the native API's request objects.
struct EmissionForm: Sendable {
    var channel: String
    var type: String?
    var user: String?
    var meta: JSONText?
    var ttlHours: Int?
    var isEphemeral = false

    /// An event with this payload, byte for byte.
    func event(data: JSONText, withChannel: Bool) -> JSONText {
        JSONText(capacity: data.count + 128) { writer in
            writer.beginObject()
            if withChannel { writer.member("channel", channel) }
            if let type { writer.member("type", type) }
            if let user { writer.member("user", user) }
            writer.member("data", data)
            if let meta { writer.member("meta", meta) }
            printRetention(isEphemeral: isEphemeral, to: &writer)
            writer.endObject()
        }
    }

    /// An event from an envelope: its own fields, and where it has none those of the form. Its channel, id and time are
    /// not taken over: it becomes a new event.
    ///
    /// - Returns: nil when the text is no object.
    func event(envelope: JSONText) -> JSONText? {
        guard let fields = envelope.rawMembers() else { return nil }
        // The last one wins, as it does for the gateway.
        let named = Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        return JSONText(capacity: envelope.count + 128) { writer in
            writer.beginObject()
            writer.member("channel", channel)
            if let own = named["type"] ?? type.map({ JSONText(string: $0) }) { writer.member("type", own) }
            if let own = named["user"] ?? user.map({ JSONText(string: $0) }) { writer.member("user", own) }
            writer.member("data", named["data"] ?? .emptyObject)
            if let own = named["meta"] ?? meta { writer.member("meta", own) }
            let wasEphemeral = named["ephemeral"]?.description == "true"
            printRetention(isEphemeral: isEphemeral || wasEphemeral, to: &writer)
            writer.endObject()
        }
    }

    private func printRetention(isEphemeral: Bool, to writer: inout JSONWriter) {
        if isEphemeral { writer.member("store", false) }
        if let ttlHours { writer.member("ttl_hours", ttlHours) }
    }

    /// Bytes an event costs beside its line, the comma after it included. Of an envelope, no more than these are added.
    var overhead: Int { event(data: .emptyObject, withChannel: true).count + "\"store\":false,".utf8.count }

    /// The body of `POST /v1/events/batch`: each event stands for itself.
    static func batch(_ events: [JSONText]) -> JSONText {
        JSONText(capacity: events.reduce(64) { $0 + $1.count + 1 }) { writer in
            writer.beginObject()
            writer.member("mode", "each")
            writer.key("events")
            writer.beginArray()
            for event in events { writer.raw(event) }
            writer.endArray()
            writer.endObject()
        }
    }

    /// A key no other request has had.
    static func freshKey() -> String { SystemRandomSource().identifier(prefix: "cli_") }
}
