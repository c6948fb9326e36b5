import ChatModel
import JSON
import Signing

/// A post's body, as far as a mapping asks for it.
struct PostBody {
    /// What `body` refers to.
    var json: JSONText?
    /// The fields of a form; nil when it is none.
    var form: [InboundPost.Field]?
    var cloudEvent: CloudEventPost?

    /// Of a post nothing is asked of.
    static let unread = PostBody()

    /// Reads a body. A batch of CloudEvents is several, each to be mapped by itself; everything else is one.
    ///
    /// JSON is read whatever the post says it is, since services label it as they like. What cannot be JSON by its type is
    /// read as that: a form's fields (its field `payload`, where that holds JSON, stands for all of them), a text. Without
    /// a type only JSON will do.
    static func read(
        _ post: InboundPost, needs: Set<PostRoot>, limits: Limits
    ) throws(ChatError) -> [PostBody] {
        let media = MediaName(post.message.header("content-type") ?? "")
        if needs.contains(.cloudevent) {
            if let events = try CloudEventPost.read(post, media, limits) {
                return events.map { PostBody(json: $0.isStructured ? $0.text : $0.data, cloudEvent: $0) }
            }
        }
        if media.isForm, !looksLikeJSON(post.body) {
            guard let fields = FormFields.read(post.body) else {
                throw ChatError(.malformed, "the body is no form, although its type says so", slug: "bad_form")
            }
            return [PostBody(json: try FormFields.json(fields, limits), form: fields)]
        }
        return [PostBody(json: try json(post.body, media, limits))]
    }

    /// Forms do not begin so. Senders without a word on the type are given that of forms by their tools, and what is refused
    /// as JSON must not become a form of one strange field.
    static func looksLikeJSON(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
    }

    /// Lenient: another service's long numbers are none of our business, and their text is kept.
    static func document(_ bytes: [UInt8], _ limits: Limits) throws(JSONError) -> JSONText {
        try JSONDocument(bytes, limits: JSONLimits(depth: limits.jsonDepth), numbers: .lenient).text
    }

    private static func json(_ bytes: [UInt8], _ media: MediaName, _ limits: Limits) throws(ChatError) -> JSONText {
        do {
            return try document(bytes, limits)
        } catch {
            guard error.reason == .malformed, media.isOtherThanJSON, !media.isForm,
                let text = String(validating: bytes, as: UTF8.self)
            else { throw ChatError(error) }
            return JSONText(string: text)
        }
    }
}

/// A media type without its parameters, in lower case.
struct MediaName {
    let text: String

    init(_ header: String) {
        let name = header.prefix { $0 != ";" }
        text = String(name.filter { $0 != " " && $0 != "\t" }).lowercased()
    }

    var isJSON: Bool { text == "application/json" || text.hasSuffix("+json") || text == "text/json" }
    var isForm: Bool { text == "application/x-www-form-urlencoded" }
    var isOtherThanJSON: Bool { !text.isEmpty && !isJSON }
}

extension PostBody {
    /// The text or whole number at a JSON Pointer; nil where there is none.
    func text(at pointer: String) -> String? {
        guard let pointer = JSONPointer(pointer), let value = json?.at(pointer) else { return nil }
        // What was read parses, and so do its parts.
        guard let root = try? JSONDocument(value).root else { return nil }
        return root.string ?? root.integer.map { String($0) }
    }
}
