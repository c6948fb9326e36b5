import ChatCore
import ChatModel
import JSON

/// What senders may write about one event, for each way in, and how it becomes an `Emission`.
///
/// `data` and `meta` keep the bytes of the request: they are cut out of the body, never printed again.
enum EmissionReader {
    static let messageMembers = ["text", "data", "user", "meta", "custom_type", "store", "ttl_hours"]
    static let signalMembers = ["data", "user", "custom_type"]
    static let eventMembers = ["type", "data", "user", "meta", "store", "ttl_hours"]
    static let fireMembers = ["type", "data", "user", "meta"]

    /// A century: far beyond any retention, and far from overflowing a timetoken.
    private static let ttlHours = 1...876_000

    static func message(_ fields: Fields, channel: String) throws(ChatError) -> Emission {
        var emission = Emission.message(
            channel: channel, data: try messageData(fields), user: try fields.string("user"), meta: meta(fields))
        emission.customType = try fields.string("custom_type")
        try readKeeping(fields, into: &emission)
        return emission
    }

    /// A text becomes `{"text": …}` with the sender's spelling of the string.
    private static func messageData(_ fields: Fields) throws(ChatError) -> JSONText {
        guard try fields.string("text") != nil, let text = fields.raw("text") else {
            guard let data = fields.raw("data") else { throw fields.missing("member 'text' or 'data'") }
            return data
        }
        guard !fields.has("data") else {
            throw fields.fault("data", "exclusive", "send either 'text' or 'data'")
        }
        return JSONText(capacity: text.count + 10) { writer in
            writer.beginObject()
            writer.member("text", text)
            writer.endObject()
        }
    }

    static func signal(_ fields: Fields, channel: String) throws(ChatError) -> Emission {
        var emission = Emission.signal(
            channel: channel, data: try fields.required("data", fields.raw("data")), user: try fields.string("user"))
        emission.customType = try fields.string("custom_type")
        return emission
    }

    static func event(_ fields: Fields, channel: String) throws(ChatError) -> Emission {
        var emission = try typed(fields, channel: channel)
        try readKeeping(fields, into: &emission)
        return emission
    }

    /// For webhooks alone: no subscriber sees it and history does not have it (`events.md` 4).
    static func fire(_ fields: Fields, channel: String) throws(ChatError) -> Emission {
        var emission = try typed(fields, channel: channel)
        emission.retention = .passing
        emission.audience = .webhooks
        return emission
    }

    private static func typed(_ fields: Fields, channel: String) throws(ChatError) -> Emission {
        var emission = Emission(
            channel: channel, type: try fields.string("type") ?? BuiltInTypes.custom,
            data: try fields.required("data", fields.raw("data")), user: try fields.string("user"), meta: meta(fields))
        emission.value = fields.value["data"]
        return emission
    }

    private static func meta(_ fields: Fields) -> JSONText? { fields.member("meta") == nil ? nil : fields.raw("meta") }

    private static func readKeeping(_ fields: Fields, into emission: inout Emission) throws(ChatError) {
        if try fields.boolean("store") == false { emission.retention = .passing }
        if let hours = try fields.integer("ttl_hours", in: ttlHours) {
            emission.timeToLive = .seconds(hours * 3600)
        }
    }
}
