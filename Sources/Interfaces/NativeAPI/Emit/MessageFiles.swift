import ChatModel
import JSON

/// Files a message points at: they lie elsewhere, and the message says where.
enum MessageFiles {
    private static let most = 10
    private static let members = ["url", "name", "type", "size"]

    /// The member `files` in the sender's spelling; nil when it was not sent.
    static func read(_ fields: Fields) throws(ChatError) -> JSONText? {
        guard let member = fields.member("files"), let text = fields.raw("files") else { return nil }
        guard let elements = member.elements, let texts = text.rawElements() else {
            throw Fields.wrongType("#/files", expected: "array of objects", member)
        }
        guard (1...most).contains(elements.count) else {
            throw fields.fault("files", "items", "must have 1 to \(most) files")
        }
        for (index, (element, text)) in zip(elements, texts).enumerated() {
            try check(try Fields(element, text: text, pointer: "#/files/\(index)", known: members))
        }
        return text
    }

    private static func check(_ file: Fields) throws(ChatError) {
        let url = try file.required("url", try file.string("url"))
        guard (1...2048).contains(url.utf8.count), url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw file.fault("url", "format", "must be an http or https URL of at most 2048 bytes")
        }
        for name in ["name", "type"] {
            guard let text = try file.string(name), text.utf8.count > 255 else { continue }
            throw file.fault(name, "length", "must be at most 255 bytes long")
        }
        _ = try file.integer("size", in: 0...(1 << 50))
    }
}
