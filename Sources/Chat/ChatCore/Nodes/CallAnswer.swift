import ChatModel
import JSON

/// The body of a record with the answer to a call of another node: `{"value": …}` or `{"error": {…}}`.
enum CallAnswer {
    static func body(of result: Result<JSONText, ChatError>) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            switch result {
            case .success(let value): writer.member("value", value)
            case .failure(let error):
                writer.key("error")
                print(error, to: &writer)
            }
            writer.endObject()
        }
    }

    /// Parses the body of a record. Nil when it is not an answer.
    static func result(of record: Record) -> Result<JSONText, ChatError>? {
        if let value = record.body.rawMember("value") { return .success(value) }
        guard let error = record.body.rawMember("error"), let document = try? JSONDocument(error) else { return nil }
        return self.error(document.root, error).map { .failure($0) }
    }

    private static func print(_ error: ChatError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", "\(error.code)")
        writer.member("message", error.message)
        if let slug = error.slug { writer.member("slug", slug) }
        if let field = error.field { writer.member("field", field) }
        if let retryAfter = error.retryAfter {
            writer.member("retry_after_ms", Int(retryAfter / .milliseconds(1)))
        }
        writer.key("faults")
        writer.beginArray()
        for fault in error.faults { fault.print(to: &writer) }
        writer.endArray()
        writer.member("members", JSONText(members: error.members))
        writer.endObject()
    }

    private static func error(_ root: JSONValue, _ text: JSONText) -> ChatError? {
        guard let code = ChatError.Code.allCases.first(where: { "\($0)" == root["code"]?.string }),
            let message = root["message"]?.string
        else { return nil }
        var error = ChatError(code, message, slug: root["slug"]?.string, field: root["field"]?.string)
        error.retryAfter = root["retry_after_ms"]?.integer.map { .milliseconds($0) }
        error.faults = (root["faults"]?.elements ?? []).map { ChatError.FieldError($0) }
        error.members = text.rawMember("members")?.rawMembers() ?? []
        return error
    }
}
