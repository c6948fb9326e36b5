public import ChatModel
import JSON

/// Converts events into the bodies of posts.
///
/// An interface with a format of its own registers the format under a name (``WebhookOptions/formats``). A format has
/// no access to the queue, to retries or to signatures.
public protocol WebhookFormat: Sendable {
    /// True when one post may contain several events, as a JSON array of their bodies.
    var isBatchable: Bool { get }

    /// Converts an event. The same event must always result in the same bytes, because a retry after a crash converts
    /// the event again.
    ///
    /// - Parameters:
    ///   - envelope: the event as `Event.envelope` prints it.
    ///   - trace: the trace context of the event, which the envelope does not contain; nil when the event is not
    ///     traced.
    /// - Throws: ``FormatError`` when the event cannot be converted to this format.
    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent
}

/// The reason why an event cannot be converted to a format. The attempt fails and is repeated, because the webhook may
/// be corrected in the meantime.
public struct FormatError: Error, Sendable {
    /// The text for the attempt log. It must contain no secrets.
    public var text: String

    /// Creates an error with a text for the attempt log.
    public init(_ text: String) { self.text = text }
}

/// The names of the formats that are always available.
public enum BuiltInFormat: String, Sendable, CaseIterable {
    case envelope, flat, cloudevents
    case cloudeventsBinary = "cloudevents_binary"
    case cloudeventsBatch = "cloudevents_batch"
    case template

    /// Format names that are reserved for optional interfaces. A build of the gateway may lack such an interface.
    static let reserved: Set<String> = ["sendbird"]
}

/// All formats that a webhook may use, by name.
struct FormatTable: Sendable {
    private let formats: [String: any WebhookFormat]

    /// Creates the table of the built-in formats and the formats in `others`.
    ///
    /// - Parameter publicURL: the beginning of the addresses of schemas. If it is empty, bodies contain no such
    ///   addresses.
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

    /// The format of a webhook; nil if its name is not registered.
    func format(of settings: WebhookSettings) -> (any WebhookFormat)? {
        if let template = settings.template { return TemplateFormat(template.compiled) }
        return formats[settings.format]
    }
}

/// The native envelope, unchanged. It is the default format and has the form that Standard Webhooks recommends.
struct EnvelopeFormat: WebhookFormat {
    var isBatchable: Bool { true }

    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent {
        PostContent(body: envelope)
    }
}

/// The members of the payload at the top level, together with five properties of the event. Intended for receivers that
/// read flat rows.
///
/// The properties of the event replace members of the payload with the same names, so that a receiver can trust them. A
/// payload that is not an object becomes the member `data`.
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
