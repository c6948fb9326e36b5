import JSON
import Signing

/// An event that is made from an envelope, with the kind of request that emits it.
struct EnvelopeEvent: Sendable {
    /// The kind of request that emits an event. Messages and signals have separate requests, because their types are
    /// not accepted in the requests for other events.
    enum Route: String, Sendable {
        case events, messages, signals

        init(type: String?) {
            switch type {
            case "message.created": self = .messages
            case "signal.sent": self = .signals
            default: self = .events
            }
        }

        /// The members of the envelope that are copied to the new event.
        var members: Set<String> {
            switch self {
            case .events: ["type", "user", "data", "meta", "store", "ttl_hours"]
            case .messages: ["type", "user", "data", "meta", "store", "ttl_hours", "custom_type"]
            case .signals: ["type", "user", "data", "custom_type"]
            }
        }
    }

    var route: Route
    /// The JSON object for the request: an element of a batch, or the body of a message or signal.
    var text: JSONText
}

/// The fields that the options of `emit` set for every event. Creates the JSON objects of the requests, which contain
/// these fields.
struct EmissionForm: Sendable {
    var channel: String
    var type: String?
    var user: String?
    var meta: JSONText?
    var ttlHours: Int?
    var isEphemeral = false

    /// Returns an event with this payload. The bytes of the payload are not changed.
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

    /// Returns an event made from an envelope. Fields of the envelope take precedence over fields that the options set.
    /// The time and position of the envelope are left out, because the result is a new event.
    ///
    /// - Throws: a failure for an invalid envelope. An unknown field is an error, because the new event would lack it.
    func event(envelope: JSONDocument) throws(CommandFailure) -> EnvelopeEvent {
        guard let fields = envelope.text.rawMembers() else {
            throw CommandFailure("not an event: it must be a JSON object")
        }
        // The last of several members with the same name counts, as in the gateway.
        let named = Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let route = EnvelopeEvent.Route(type: envelope.root["type"]?.string)
        for name in named.keys.sorted() where !route.members.contains(name) && !Self.places.contains(name) {
            throw CommandFailure(
                "not an event: the member '\(name)' is unknown" + (route == .events ? "" : " in events of this type"))
        }
        let wasEphemeral = named["ephemeral"] ?? JSONText(trusted: Array("false".utf8))
        guard ["true", "false"].contains(wasEphemeral.description) else {
            throw CommandFailure("not an event: 'ephemeral' must be true or false")
        }
        let isEphemeral = isEphemeral || wasEphemeral.description == "true"
        return EnvelopeEvent(route: route, text: body(of: named, for: route, isEphemeral: isEphemeral))
    }

    /// The members of an envelope that describe only the original event.
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

    /// The maximum number of bytes by which an event in a request is longer than its line of input, including the comma
    /// after the event.
    var overhead: Int { event(data: .emptyObject, withChannel: true).count + "\"store\":false,".utf8.count }

    /// Returns the body of `POST /v1/events/batch` with the mode `each`: the rejection of one event does not affect the
    /// other events.
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

    /// Returns a unique idempotency key.
    static func newIdempotencyKey() -> String { SystemRandomSource().identifier(prefix: "cli_") }
}
