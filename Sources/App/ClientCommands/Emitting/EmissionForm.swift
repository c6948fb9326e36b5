import JSON
import Signing

/// An event made from an envelope, and the request it is for.
struct EnvelopeEvent: Sendable {
    /// Built-in types have requests of their own: nobody chooses them as a type.
    enum Route: String, Sendable {
        case events, messages, signals

        init(type: String?) {
            switch type {
            case "message.created": self = .messages
            case "signal.sent": self = .signals
            default: self = .events
            }
        }

        /// What an envelope may say of the event it becomes.
        var members: Set<String> {
            switch self {
            case .events: ["type", "user", "data", "meta", "store", "ttl_hours"]
            case .messages: ["type", "user", "data", "meta", "store", "ttl_hours", "custom_type"]
            case .signals: ["type", "user", "data", "custom_type"]
            }
        }
    }

    var route: Route
    /// The request's object: an element of a batch, or the body of a message or signal.
    var text: JSONText
}

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

    /// An event from an envelope: its own fields, and where it has none those of the form. Where and when it was is not
    /// taken over: it becomes a new event.
    ///
    /// - Throws: for what is no envelope. A field left out in silence would make another event of the copy.
    func event(envelope: JSONDocument) throws(CommandFailure) -> EnvelopeEvent {
        guard let fields = envelope.text.rawMembers() else {
            throw CommandFailure("not an event: an object is needed")
        }
        // The last one wins, as it does for the gateway.
        let named = Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let route = EnvelopeEvent.Route(type: envelope.root["type"]?.string)
        for name in named.keys.sorted() where !route.members.contains(name) && !Self.places.contains(name) {
            throw CommandFailure("not an event: '\(name)' is unknown" + (route == .events ? "" : " there"))
        }
        let wasEphemeral = named["ephemeral"] ?? JSONText(trusted: Array("false".utf8))
        guard ["true", "false"].contains(wasEphemeral.description) else {
            throw CommandFailure("not an event: 'ephemeral' must be true or false")
        }
        let isEphemeral = isEphemeral || wasEphemeral.description == "true"
        return EnvelopeEvent(route: route, text: body(of: named, for: route, isEphemeral: isEphemeral))
    }

    /// What an envelope says of the event it was.
    private static let places: Set<String> = [
        "id", "kind", "timetoken", "timestamp", "channel", "schema", "cause", "ephemeral", "included",
    ]

    private func body(of own: [String: JSONText], for route: EnvelopeEvent.Route, isEphemeral: Bool) -> JSONText {
        JSONText(capacity: own.values.reduce(128) { $0 + $1.count + 16 }) { writer in
            writer.beginObject()
            if route == .events {
                writer.member("channel", channel)
                if let own = own["type"] ?? type.map({ JSONText(string: $0) }) { writer.member("type", own) }
            }
            if let own = own["user"] ?? user.map({ JSONText(string: $0) }) { writer.member("user", own) }
            writer.member("data", own["data"] ?? .emptyObject)
            if let own = own["custom_type"] { writer.member("custom_type", own) }
            if route != .signals {
                if let own = own["meta"] ?? meta { writer.member("meta", own) }
                printRetention(isEphemeral: isEphemeral, store: own["store"], ttlHours: own["ttl_hours"], to: &writer)
            }
            writer.endObject()
        }
    }

    private func printRetention(
        isEphemeral: Bool, store: JSONText? = nil, ttlHours own: JSONText? = nil, to writer: inout JSONWriter
    ) {
        if isEphemeral {
            writer.member("store", false)
        } else if let store {
            writer.member("store", store)
        }
        if let own {
            writer.member("ttl_hours", own)
        } else if let ttlHours {
            writer.member("ttl_hours", ttlHours)
        }
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
