import ChatModel
import HTTPServer

/// The `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header).
struct IdempotencyKey: Equatable {
    let text: String

    /// Parses the header field; nil when the field is absent.
    ///
    /// - Throws: `.malformed` for a key that is not 1 to 255 visible ASCII characters.
    init?(_ headers: Headers) throws(ChatError) {
        let fields = headers[all: "Idempotency-Key"]
        guard let field = fields.first else { return nil }
        text = Self.unquoted(field)
        guard fields.count == 1, (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ChatError(
                .malformed, "Idempotency-Key must be one value of 1 to 255 visible ASCII characters",
                slug: "bad_idempotency_key", field: "Idempotency-Key")
        }
    }

    /// The error of a route whose response contains a credential. Such a response is not stored, so it cannot be
    /// repeated.
    static let refusal = ChatError(
        .malformed,
        "this route returns a credential, which is not stored for repeated requests; leave out Idempotency-Key",
        slug: "bad_idempotency_key", field: "Idempotency-Key")

    /// The content of a structured-field string (RFC 9651, 4.2.5). Any other value is returned unchanged, because
    /// clients rarely write the quotes that the draft requires.
    private static func unquoted(_ field: String) -> String {
        let bytes = Array(field.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return field
        }
        var content: [UInt8] = []
        var rest = bytes[1..<bytes.count - 1].makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let escaped = rest.next(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return field
                }
                content.append(escaped)
            case UInt8(ascii: "\""): return field
            case 0x20...0x7E: content.append(byte)
            default: return field
            }
        }
        return String(decoding: content, as: UTF8.self)
    }
}
