import ChatModel
import JSON

/// Checks of the fields of records. All interfaces use these checks, so their errors are the same.
extension Limits {
    /// Checks the length of a text.
    ///
    /// - Throws: `.malformed` with the name of the field.
    func check(_ text: String?, _ field: String) throws(ChatError) {
        guard let text, text.unicodeScalars.count > recordTextLength else { return }
        throw ChatError(
            .malformed, "\(field) must be at most \(recordTextLength) characters long", slug: "bad_member", field: field
        )
    }

    /// Checks the size of a JSON value.
    ///
    /// - Throws: `.tooLarge` with the name of the field.
    func check(value: JSONText?, _ field: String) throws(ChatError) {
        guard let value, value.count > recordValueBytes else { return }
        throw .over(
            .tooLarge, "\(field) must be at most \(recordValueBytes) bytes of JSON", name: "limit_bytes",
            limit: recordValueBytes, field: field)
    }

    /// Checks that a JSON value is an object, and checks its size.
    ///
    /// - Throws: `.malformed` when the value is not an object; `.tooLarge` above the size limit.
    func check(object: JSONText?, _ field: String) throws(ChatError) {
        try check(value: object, field)
        guard let object, object.rawMembers() == nil else { return }
        throw ChatError(.malformed, "\(field) must be a JSON object", slug: "wrong_type", field: field)
    }
}
