import ChatModel
import JSON

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
    static func json(_ fields: [InboundPost.Field], _ limits: Limits) -> JSONText {
        let payloads = fields.filter { $0.name == "payload" }
        // A field of that name without JSON in it is a field like any other.
        if payloads.count == 1, let value = payloads.first?.value, let first = value.utf8.first,
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let document = try? PostBody.document(Array(value.utf8), limits)
        {
            return document
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

/// Percent escapes (RFC 3986, 2.1).
enum PercentText {
    /// The text, decoded exactly once; nil for a broken escape and for bytes that are no UTF-8.
    static func decode(_ bytes: [UInt8]) -> String? {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "%") else {
                output.append(bytes[at])
                at += 1
                continue
            }
            guard at + 2 < bytes.count, let high = digit(bytes[at + 1]), let low = digit(bytes[at + 2]) else {
                return nil
            }
            output.append(high << 4 | low)
            at += 3
        }
        return String(validating: output, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
