import ChatModel
import JSON
import Text

/// Bodies of type `application/x-www-form-urlencoded` (WHATWG URL, 5.1).
enum FormFields {
    /// The maximum number of fields of a form. No service sends so many fields. The limit bounds the work for a hostile
    /// body.
    static let mostFields = 1000

    /// The fields of a form in their order. Nil for an invalid percent-encoding, invalid UTF-8, or too many fields.
    static func read(_ body: [UInt8]) -> [InboundPost.Field]? {
        var fields: [InboundPost.Field] = []
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard fields.count < mostFields, let name = PercentEncoding.decode(pair[..<equals], plusIsSpace: true),
                let value = PercentEncoding.decode(pair[equals...].dropFirst(), plusIsSpace: true)
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    /// Converts a form to JSON. If the field `payload` contains JSON (GitHub, Slack), the result is this JSON.
    /// Otherwise the result is an object of strings, in which a repeated name has an array of strings.
    ///
    /// - Throws: the error of a JSON body, when the field `payload` starts like JSON but is invalid.
    static func json(_ fields: [InboundPost.Field], _ limits: Limits) throws(ChatError) -> JSONText {
        let payloads = fields.filter { $0.name == "payload" }
        // A field `payload` without JSON is an ordinary field.
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
}
