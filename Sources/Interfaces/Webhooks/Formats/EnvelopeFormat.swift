import ChatModel
import JSON

/// The native envelope as it is: the default, and what Standard Webhooks asks for.
struct EnvelopeFormat: WebhookFormat {
    var isBatchable: Bool { true }

    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent {
        PostContent(body: envelope)
    }
}

/// The payload's members at the top, and five facts of the event beside them: for receivers that read flat rows.
///
/// The facts win over members of the same name: a receiver must be able to trust them. A payload that is no object stands
/// under `data`.
struct FlatFormat: WebhookFormat {
    private static let facts = [
        ("event_id", "id"), ("event_type", "type"), ("channel", "channel"), ("user", "user"),
        ("timetoken", "timetoken"),
    ]

    var isBatchable: Bool { true }

    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent {
        let parts = try EnvelopeParts(envelope)
        let data = parts["data"] ?? .null
        let members = data.bytes.first == UInt8(ascii: "{") ? data.rawMembers() ?? [] : [("data", data)]
        var writer = JSONWriter(capacity: envelope.count + 64)
        writer.beginObject()
        for (name, member) in Self.facts {
            guard let value = parts[member] else { continue }
            writer.key(text: name)
            writer.raw(value)
        }
        for (name, value) in members where !Self.facts.contains(where: { $0.0 == name }) {
            writer.key(text: name)
            writer.raw(value)
        }
        writer.endObject()
        return PostContent(body: writer.bytes)
    }
}
