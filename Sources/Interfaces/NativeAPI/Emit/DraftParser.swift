import ChatCore
import ChatModel
import JSON

/// Parses the description of an event into an `EventDraft`, for every kind of emit.
///
/// `data` and `meta` keep the bytes of the request: they are copied from the body and never printed again. `text` and
/// `files` become members of one object, and each keeps its bytes.
enum DraftParser {
    static let messageMembers = [
        "text", "data", "files", "user", "meta", "custom_type", "store", "ttl_hours", "quote", "thread_of", "mentions",
    ]
    static let signalMembers = ["data", "user", "custom_type"]
    static let eventMembers = ["type", "data", "user", "meta", "store", "ttl_hours"]
    static let fireMembers = ["type", "data", "user", "meta"]

    /// The bounds of `ttl_hours`, the lifetime of an event in hours; 0 sets no lifetime. The maximum is about a
    /// century, which is longer than any retention and does not overflow a timetoken.
    private static let ttlHours = 0...876_000

    static func message(_ fields: Fields, channel: String) throws(ChatError) -> EventDraft {
        var draft = EventDraft.message(
            channel: channel, data: try messageData(fields), user: try fields.string("user"), meta: meta(fields))
        draft.customType = try fields.string("custom_type")
        try readKeeping(fields, into: &draft)
        return draft
    }

    /// The data of a message: the member `data` or, if the body has `text` or `files`, an object with these members.
    /// The bytes of the text and of the files are copied from the request.
    private static func messageData(_ fields: Fields) throws(ChatError) -> JSONText {
        let text = try fields.string("text") == nil ? nil : fields.raw("text")
        let files = try MessageFiles.read(fields)
        guard text != nil || files != nil else {
            guard let data = fields.raw("data") else { throw fields.missing("member 'text' or 'data'") }
            return data
        }
        guard !fields.has("data") else {
            throw fields.fault("data", "exclusive", "send either 'text' or 'data'")
        }
        return JSONText(capacity: (text?.count ?? 0) + (files?.count ?? 0) + 20) { writer in
            writer.beginObject()
            writer.member("text", text ?? JSONText(string: ""))
            if let files { writer.member("files", files) }
            writer.endObject()
        }
    }

    /// The links of a message to other messages; nil for a message without links.
    static func links(_ fields: Fields) throws(ChatError) -> MessageLinks? {
        guard fields.has("quote") || fields.has("thread_of") || fields.has("mentions") else { return nil }
        let links = MessageLinks(
            quote: try fields.timetoken("quote"), threadOf: try fields.timetoken("thread_of"),
            mentions: try mentions(fields))
        return links.quote == nil && links.threadOf == nil && links.mentions == nil ? nil : links
    }

    private static func mentions(_ fields: Fields) throws(ChatError) -> MessageLinks.Mentions? {
        if let word = fields.member("mentions")?.string {
            guard word == "channel" else {
                throw fields.fault("mentions", "enum", "must be an array of users' ids, or 'channel'")
            }
            return .channel
        }
        guard let users = try fields.strings("mentions"), !users.isEmpty else { return nil }
        return .users(users)
    }

    /// Parses the new content in a request that edits a message.
    static func content(_ fields: Fields) throws(ChatError) -> MessageContent {
        guard try fields.string("text") != nil, let text = fields.raw("text") else {
            guard let data = fields.raw("data") else { throw fields.missing("member 'text' or 'data'") }
            return .data(data)
        }
        guard !fields.has("data") else { throw fields.fault("data", "exclusive", "send either 'text' or 'data'") }
        return .text(text)
    }

    static func signal(_ fields: Fields, channel: String) throws(ChatError) -> EventDraft {
        var draft = EventDraft.signal(
            channel: channel, data: try fields.required("data", fields.raw("data")), user: try fields.string("user"))
        draft.customType = try fields.string("custom_type")
        return draft
    }

    static func event(_ fields: Fields, channel: String) throws(ChatError) -> EventDraft {
        guard let data = fields.raw("data") else { throw fields.missing("member 'data'") }
        var draft = EventDraft.event(
            channel: channel, type: try fields.string("type") ?? BuiltInTypes.custom, data: data,
            user: try fields.string("user"), meta: meta(fields))
        try readKeeping(fields, into: &draft)
        return draft
    }

    /// An event for webhooks only: streams and polls do not receive the event, and history does not store it.
    static func fire(_ fields: Fields, channel: String) throws(ChatError) -> EventDraft {
        var draft = try event(fields, channel: channel)
        draft.retention = .passing
        draft.audience = .webhooks
        return draft
    }

    private static func meta(_ fields: Fields) -> JSONText? { fields.member("meta")?.text }

    private static func readKeeping(_ fields: Fields, into draft: inout EventDraft) throws(ChatError) {
        if try fields.boolean("store") == false { draft.retention = .passing }
        if let hours = try fields.integer("ttl_hours", in: ttlHours), hours > 0 {
            draft.timeToLive = .seconds(hours * 3600)
        }
    }
}

/// The files of a message. The gateway does not store them; the message contains their addresses.
enum MessageFiles {
    private static let most = 10
    private static let members = ["url", "name", "type", "size"]

    /// The bytes of the member `files`; nil when the member is absent.
    static func read(_ fields: Fields) throws(ChatError) -> JSONText? {
        guard let text = fields.member("files")?.text else { return nil }
        guard let files = text.rawElements() else {
            throw Fields.wrongType("#/files", expected: "array of objects", text.kind)
        }
        guard (1...most).contains(files.count) else {
            throw fields.fault("files", "items", "must have 1 to \(most) files")
        }
        for (index, file) in files.enumerated() {
            try check(try Fields(file, pointer: "#/files/\(index)", known: members))
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
