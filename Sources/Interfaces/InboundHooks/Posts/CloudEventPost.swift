import ChatCore
import ChatModel
import JSON
import Signing

/// A CloudEvent of a post, in a form that does not depend on its content mode.
struct CloudEventPost {
    /// The event in the structured JSON format.
    let text: JSONText
    /// The data of the event; nil without data.
    let data: JSONText?
    /// True when the event was sent in structured or batched mode, false for binary mode.
    let isStructured: Bool
    /// The attributes `source` and `id` in one text. Two CloudEvents with the same identity are repeats of the same
    /// event.
    let identity: String

    /// Parses the CloudEvents of a post. Returns an empty array for an empty batch, and nil when the post is not a
    /// CloudEvent.
    ///
    /// - Throws: `.malformed` with the slug `bad_cloud_event` for an invalid CloudEvent.
    static func read(
        _ post: InboundPost, _ media: MediaName, _ limits: Limits
    ) throws(ChatError) -> [CloudEventPost]? {
        // The batch type is checked first, because the type of a single event is a prefix of it.
        if media.text.hasPrefix("application/cloudevents-batch") {
            guard let elements = try document(post, limits).rawElements(), elements.count <= limits.batchEvents else {
                throw fault("a batch of CloudEvents must be an array of at most \(limits.batchEvents) events")
            }
            return try elements.map { element throws(ChatError) in try CloudEventPost(structured: element, limits) }
        }
        if media.text.hasPrefix("application/cloudevents") {
            return [try CloudEventPost(structured: try document(post, limits), limits)]
        }
        let isBinary = post.headers.contains { $0.name.lowercased() == "ce-specversion" }
        return isBinary ? [try CloudEventPost(binary: post, media, limits)] : nil
    }

    private init(structured text: JSONText, _ limits: Limits) throws(ChatError) {
        guard let members = text.rawMembers() else { throw Self.fault("a CloudEvent must be a JSON object") }
        var attributes: [String: String] = [:]
        for member in members where member.value.bytes.first == UInt8(ascii: "\"") {
            attributes[member.name] = (try? JSONDocument(member.value))?.root.string
        }
        identity = try Self.identity(attributes)
        isStructured = true
        if let encoded = attributes["data_base64"], !members.contains(where: { $0.name == "data" }) {
            guard let bytes = Base64.decode(encoded) else { throw Self.fault("data_base64 is not Base64") }
            let data = try Self.data(bytes, MediaName(attributes["datacontenttype"] ?? "application/json"), limits)
            self.data = data
            self.text = JSONText { writer in
                writer.beginObject()
                for member in members where member.name != "data_base64" {
                    writer.key(text: member.name)
                    writer.raw(member.value)
                }
                writer.member("data", data ?? .null)
                writer.endObject()
            }
        } else {
            data = members.first { $0.name == "data" }?.value
            self.text = text
        }
    }

    private init(binary post: InboundPost, _ media: MediaName, _ limits: Limits) throws(ChatError) {
        let sent = try CloudEventHeaders.attributes(of: post.headers)
        let attributes = Dictionary(uniqueKeysWithValues: sent.map { ($0.name, $0.value) })
        identity = try Self.identity(attributes)
        isStructured = false
        let data = try Self.data(post.body, media, limits)
        self.data = data
        text = JSONText { writer in
            writer.beginObject()
            for name in attributes.keys.sorted() where name != "data" {
                writer.key(text: name)
                writer.string(attributes[name] ?? "")
            }
            if !media.text.isEmpty { writer.member("datacontenttype", media.text) }
            if let data { writer.member("data", data) }
            writer.endObject()
        }
    }

    private static func identity(_ attributes: [String: String]) throws(ChatError) -> String {
        guard attributes["specversion"] == "1.0" else { throw fault("'specversion' must be 1.0") }
        for name in ["id", "source", "type"] where attributes[name]?.isEmpty != false {
            throw fault("the attribute '\(name)' is required")
        }
        let source = attributes["source"] ?? ""
        // The length of the source makes the combination unambiguous.
        return "\(source.utf8.count):\(source)\(attributes["id"] ?? "")"
    }

    private static func document(_ post: InboundPost, _ limits: Limits) throws(ChatError) -> JSONText {
        do {
            return try PostBody.document(post.body, limits)
        } catch {
            throw ChatError(error)
        }
    }

    /// Converts data to JSON. JSON is returned unchanged, a text becomes a JSON string, and empty data becomes nil.
    private static func data(_ bytes: [UInt8], _ media: MediaName, _ limits: Limits) throws(ChatError) -> JSONText? {
        if bytes.isEmpty { return nil }
        guard media.isOtherThanJSON else {
            do {
                return try PostBody.document(bytes, limits)
            } catch {
                throw ChatError(error)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw fault("'data' must be JSON or text")
        }
        return JSONText(string: text)
    }

    private static func fault(_ detail: String) -> ChatError {
        ChatError(.malformed, "the CloudEvent is not valid: \(detail)", slug: "bad_cloud_event")
    }
}
