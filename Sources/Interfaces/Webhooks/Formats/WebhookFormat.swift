public import ChatModel
import JSON

/// How an event becomes the body of a post.
///
/// A wire language that webhooks are to speak registers its own under a name (``WebhookOptions/formats``); it stays out of
/// queue, retries and signatures.
public protocol WebhookFormat: Sendable {
    /// Whether several events may go in one post, as a JSON array of what each becomes.
    var isBatchable: Bool { get }

    /// What an event becomes. The same event must always give the same bytes: a retry that comes after a crash is made anew.
    /// - Parameters:
    ///   - envelope: the event as `Event.envelope` prints it.
    ///   - trace: where the event stands in a trace, which no envelope tells; nil for one that is not traced.
    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent
}

/// Why an event has no form in a format. The attempt fails with it, and is repeated: the webhook may be mended meanwhile.
public struct FormatError: Error, Sendable {
    /// For the attempt log; names no secrets.
    public var text: String

    public init(_ text: String) { self.text = text }
}

/// The names of the formats that are always there.
public enum BuiltInFormat: String, Sendable, CaseIterable {
    case envelope, flat, cloudevents
    case cloudeventsBinary = "cloudevents_binary"
    case cloudeventsBatch = "cloudevents_batch"
    case template

    /// Names that belong to interfaces which may be absent.
    static let reserved: Set<String> = ["sendbird"]
}

/// Every format a webhook may choose, by its name.
struct FormatTable: Sendable {
    private let formats: [String: any WebhookFormat]

    /// - Parameter publicURL: begins the addresses of schemas; empty when it is unknown, and then none are named.
    init(publicURL: String, others: [String: any WebhookFormat] = [:]) {
        let builtIn: [String: any WebhookFormat] = [
            BuiltInFormat.envelope.rawValue: EnvelopeFormat(),
            BuiltInFormat.flat.rawValue: FlatFormat(),
            BuiltInFormat.cloudevents.rawValue: CloudEventsFormat(.structured, publicURL: publicURL),
            BuiltInFormat.cloudeventsBinary.rawValue: CloudEventsFormat(.binary, publicURL: publicURL),
            BuiltInFormat.cloudeventsBatch.rawValue: CloudEventsFormat(.batch, publicURL: publicURL),
        ]
        formats = others.merging(builtIn) { _, builtIn in builtIn }
    }

    /// Nil for a name nobody has registered.
    func format(of settings: WebhookSettings) -> (any WebhookFormat)? {
        if let template = settings.template { return TemplateFormat(template.compiled) }
        return formats[settings.format]
    }
}

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
