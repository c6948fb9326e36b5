import ChatModel
import JSON
import Signing

/// Bodies of type `application/x-www-form-urlencoded` (WHATWG URL, 5.1).
enum FormFields {
    /// More than any service sends; bounds what a hostile body costs.
    static let mostFields = 1000

    /// The fields in their order; nil for a broken escape, bytes that are no UTF-8, and too many fields.
    static func read(_ body: [UInt8]) -> [InboundPost.Field]? {
        var fields: [InboundPost.Field] = []
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard fields.count < mostFields, let name = decode(pair[..<equals]),
                let value = decode(pair[equals...].dropFirst())
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    /// The form as JSON: the JSON that the field `payload` holds (GitHub, Slack), otherwise an object of texts. A name
    /// that is there several times has a list.
    /// - Throws: what a body would be refused with, for a field `payload` that begins as JSON and is not acceptable.
    static func json(_ fields: [InboundPost.Field], _ limits: Limits) throws(ChatError) -> JSONText {
        let payloads = fields.filter { $0.name == "payload" }
        // A field of that name without JSON in it is a field like any other.
        if payloads.count == 1, let value = payloads.first?.value, PostBody.looksLikeJSON(value.utf8) {
            do {
                return try PostBody.document(Array(value.utf8), limits)
            } catch {
                throw ChatError(error)
            }
        }
        var order: [String] = []
        var values: [String: [String]] = [:]
        for field in fields {
            if values[field.name] == nil { order.append(field.name) }
            values[field.name, default: []].append(field.value)
        }
        return JSONText { writer in
            writer.beginObject()
            for name in order {
                let several = values[name] ?? []
                writer.key(text: name)
                if several.count > 1 { writer.beginArray() }
                for value in several { writer.string(value) }
                if several.count > 1 { writer.endArray() }
            }
            writer.endObject()
        }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        PercentText.decode(bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
