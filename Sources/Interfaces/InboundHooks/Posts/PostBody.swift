import ChatModel
import JSON
import Signing

/// The parts of a post's body that its mapping uses.
struct PostBody {
    /// The value of references to `body`.
    var json: JSONText?
    /// The fields of a form; nil when the body is not a form.
    var form: [InboundPost.Field]?
    var cloudEvent: CloudEventPost?

    /// The parsed body of a post whose mapping does not use the body.
    static let unread = PostBody()

    /// Parses a body. A batch of CloudEvents gives one result per event, each of which is mapped separately. Any other
    /// body gives one result.
    ///
    /// JSON is recognized with any content type, because services send JSON with many content types. Other content is
    /// parsed by its content type. A form gives its fields, or the JSON in its field `payload`. Any other content gives
    /// a text. Without a content type, only JSON is accepted.
    ///
    /// - Parameter asCloudEvents: true to recognize CloudEvents, false to treat them like any other body.
    /// - Throws: `.malformed` for an invalid form, CloudEvent or JSON document.
    static func read(
        _ post: InboundPost, asCloudEvents: Bool, limits: Limits
    ) throws(ChatError) -> [PostBody] {
        if asCloudEvents, let events = try CloudEventPost.read(post, post.message.media, limits) {
            return events.map { PostBody(json: $0.isStructured ? $0.text : $0.data, cloudEvent: $0) }
        }
        if !looksLikeJSON(post.body), post.message.media.isForm {
            guard let fields = FormFields.read(post.body) else {
                throw ChatError(
                    .malformed, "the Content-Type is that of a form, but the body is not a form", slug: "bad_form")
            }
            return [PostBody(json: try FormFields.json(fields, limits), form: fields)]
        }
        return [PostBody(json: try json(post, limits))]
    }

    /// Returns true for a body that starts like JSON. A form never starts with these characters. Some tools send JSON
    /// with the content type of a form if the user sets no content type. Without this check, such a body would be
    /// parsed as a form with one field.
    static func looksLikeJSON(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
    }

    /// Parses the JSON text of a post. Accepts integers that do not fit into 64 bits, because other services may send
    /// them. The returned text contains their exact digits.
    static func document(_ bytes: [UInt8], _ limits: Limits) throws(JSONError) -> JSONText {
        try JSONDocument(bytes, limits: JSONLimits(depth: limits.jsonDepth), numbers: .lenient).text
    }

    private static func json(_ post: InboundPost, _ limits: Limits) throws(ChatError) -> JSONText {
        do {
            return try document(post.body, limits)
        } catch {
            let media = post.message.media
            guard error.reason == .malformed, media.isOtherThanJSON, !media.isForm,
                let text = String(validating: post.body, as: UTF8.self)
            else { throw ChatError(error) }
            return JSONText(string: text)
        }
    }
}

/// A media type in lower case, without its parameters.
struct MediaName {
    let text: String

    init(_ header: String) {
        let name = header.utf8.prefix { $0 != UInt8(ascii: ";") }
        text = String(decoding: name.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).lowercased()
    }

    var isJSON: Bool { text == "application/json" || text.hasSuffix("+json") || text == "text/json" }
    var isForm: Bool { text == "application/x-www-form-urlencoded" }
    var isOtherThanJSON: Bool { !text.isEmpty && !isJSON }
}

extension SignedMessage {
    /// The media type of the body; empty without a `Content-Type`.
    var media: MediaName { MediaName(header("content-type") ?? "") }
}

extension PostBody {
    /// The text or integer at a JSON Pointer; nil when there is none.
    func text(at pointer: String) -> String? {
        guard let pointer = JSONPointer(pointer), let value = json?.at(pointer) else { return nil }
        // A part of a parsed document can always be parsed.
        guard let root = try? JSONDocument(value).root else { return nil }
        return root.string ?? root.integer.map { String($0) }
    }
}
