import ChatModel
import JSON

/// Checks of record fields. Every interface uses them, so all give the same errors.
extension Limits {
    /// - Throws: `.malformed` naming the field.
    func check(_ text: String?, _ field: String) throws(ChatError) {
        guard let text, text.unicodeScalars.count > recordTextLength else { return }
        throw ChatError(
            .malformed, "\(field) must be at most \(recordTextLength) characters long", slug: "bad_member", field: field
        )
    }

    /// - Throws: `.tooLarge` naming the field.
    func check(value: JSONText?, _ field: String) throws(ChatError) {
        guard let value, value.count > recordValueBytes else { return }
        throw .over(
            .tooLarge, "\(field) must be at most \(recordValueBytes) bytes of JSON", name: "limit_bytes",
            limit: recordValueBytes, field: field)
    }

    /// - Throws: `.malformed` when the value is not an object, `.tooLarge`.
    func check(object: JSONText?, _ field: String) throws(ChatError) {
        try check(value: object, field)
        guard let object, object.rawMembers() == nil else { return }
        throw ChatError(.malformed, "\(field) must be a JSON object", slug: "wrong_type", field: field)
    }
}
