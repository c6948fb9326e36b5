import ChatModel
import JSON
import Text

/// Converts an event to a CloudEvents 1.0 post over HTTP.
///
/// The attributes `id`, `type` and `time` are copied from the envelope. `subject` and `partitionkey` are the channel.
/// `source` names the app and the channel. If a schema accepted the event, `dataschema` is the address of that schema
/// version. Extensions are `user` and, for a traced event, the emitter's `traceparent` and `tracestate`.
struct CloudEventsFormat: WebhookFormat {
    enum Mode: Sendable { case structured, binary, batch }

    private let mode: Mode
    private let publicURL: String

    init(_ mode: Mode, publicURL: String) {
        self.mode = mode
        self.publicURL = publicURL
    }

    var isBatchable: Bool { mode == .batch }

    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent {
        let parts = try EnvelopeParts(envelope)
        let attributes = attributes(of: parts, trace, in: subscriber.app)
        let data = parts["data"] ?? .null
        switch mode {
        case .structured, .batch:
            return PostContent(contentType: PostContent.cloudEvent, body: Self.printed(attributes, data))
        case .binary:
            return PostContent(
                headers: attributes.map {
                    HeaderField("ce-" + $0.name, PercentEncoding.encode($0.value, keeping: .fieldValue))
                },
                body: data.bytes)
        }
    }

    private func attributes(
        of parts: EnvelopeParts, _ trace: TraceContext?, in app: AppID
    ) -> [(name: String, value: String)] {
        let channel = parts.text("channel") ?? ""
        let source = "/apps/\(PercentEncoding.encode(app.name))/channels/\(PercentEncoding.encode(channel))"
        let attributes: [(String, String?)] = [
            ("specversion", "1.0"), ("id", parts.text("id")), ("source", source), ("type", parts.text("type")),
            ("time", parts.text("timestamp")), ("subject", channel), ("partitionkey", channel),
            ("dataschema", schemaAddress(parts["schema"])), ("user", parts.text("user")),
            ("traceparent", trace?.traceparent), ("tracestate", trace?.state),
        ]
        // Attributes with empty values are left out, because they must not be empty (CloudEvents 1.0, context
        // attributes).
        return attributes.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : (name, $0) } }
    }

    private func schemaAddress(_ reference: JSONText?) -> String? {
        guard !publicURL.isEmpty, let reference, let root = (try? JSONDocument(reference.bytes))?.root,
            let type = root["type"]?.string, let version = root["version"]?.integer
        else { return nil }
        return "\(publicURL)/v1/event-types/\(PercentEncoding.encode(type))/versions/\(version)"
    }

    private static func printed(_ attributes: [(name: String, value: String)], _ data: JSONText) -> [UInt8] {
        var writer = JSONWriter(capacity: data.count + 384)
        writer.beginObject()
        for (name, value) in attributes {
            writer.key(text: name)
            writer.string(value)
        }
        writer.member("datacontenttype", PostContent.json)
        writer.member("data", data)
        writer.endObject()
        return writer.bytes
    }
}

/// The members of a printed envelope. The value of each member is its JSON text in bytes.
struct EnvelopeParts {
    let members: [(name: String, value: JSONText)]

    init(_ envelope: [UInt8]) throws(FormatError) {
        guard let members = JSONText(trusted: envelope).rawMembers() else {
            throw FormatError("the event's stored form is not an envelope")
        }
        self.members = members
    }

    subscript(name: String) -> JSONText? { members.first { $0.name == name }?.value }

    /// The value of a string member; nil when the envelope has no such member.
    func text(_ name: String) -> String? {
        guard let bytes = self[name]?.bytes, bytes.count >= 2, bytes[0] == UInt8(ascii: "\"") else { return nil }
        // A string without escapes is used as it is, because parsing costs ten times as much.
        if !bytes.contains(UInt8(ascii: "\\")) { return String(decoding: bytes[1..<bytes.count - 1], as: UTF8.self) }
        // The gateway printed this string, so it can be parsed. Otherwise the member counts as absent.
        return (try? JSONDocument(bytes))?.root.string
    }
}
