import ChatCore
import ChatModel
import JSON

/// A version of a record on this wire: the place of what changed it last, which its event says as well.
enum ObjectTag {
    static func text(_ updated: Timetoken) -> String { String(updated.rawValue, radix: 36) }

    /// The tag of an `If-Match`, with or without quotes.
    static func text(ofHeader header: String) -> String { header.filter { $0 != "\"" } }
}

extension UserRecord {
    func print(_ fields: ObjectInclude.Fields, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.optional("name", name)
        writer.optional("externalId", externalID)
        writer.optional("profileUrl", profileURL)
        writer.optional("email", email)
        writer.members(fields, type, status, custom)
        writer.version(updated)
        writer.endObject()
    }
}

extension ChannelRecord {
    func print(_ fields: ObjectInclude.Fields, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.optional("name", name)
        writer.optional("description", description)
        writer.members(fields, type, status, custom)
        writer.version(updated)
        writer.endObject()
    }
}

extension MembershipRecord {
    /// - Parameters:
    ///   - name: what the other end is called.
    ///   - printOther: prints it.
    func print(
        _ fields: ObjectInclude.Fields, _ name: StaticString, to writer: inout JSONWriter,
        _ printOther: (inout JSONWriter) -> Void
    ) {
        writer.beginObject()
        writer.key(name)
        printOther(&writer)
        writer.members(fields, type, wireStatus, wireCustom)
        writer.version(updated)
        writer.endObject()
    }
}

extension RestrictionRecord {
    /// As the member that Chat SDKs take it for; see `MembershipRecord`.
    func print(
        _ fields: ObjectInclude.Fields, _ name: StaticString, to writer: inout JSONWriter,
        _ printOther: (inout JSONWriter) -> Void
    ) {
        let custom = JSONText { writer in
            writer.beginObject()
            writer.member("ban", isBanned)
            writer.member("mute", isMuted)
            if let reason { writer.member("reason", reason) }
            writer.endObject()
        }
        writer.beginObject()
        writer.key(name)
        printOther(&writer)
        writer.members(fields, nil, nil, custom)
        writer.version(updated)
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func optional(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }

    /// Those of the members that an app decides about which were asked for.
    fileprivate mutating func members(
        _ fields: ObjectInclude.Fields, _ type: String?, _ status: String?, _ custom: JSONText?
    ) {
        if fields.type { optional("type", type) }
        if fields.status { optional("status", status) }
        if fields.custom { member("custom", custom ?? .null) }
    }

    /// When a record changed last, and which version that made.
    mutating func version(_ updated: Timetoken) {
        member("updated", updated.timestamp)
        member("eTag", ObjectTag.text(updated))
    }

    /// What has no record: its id alone.
    mutating func bareID(_ id: String) {
        beginObject()
        member("id", id)
        endObject()
    }
}

/// What an answer of objects shows beside what it always does (`pubnub-wire.md` 14.3).
struct ObjectInclude: Sendable {
    /// The fields that are shown only when they are asked for.
    struct Fields: Sendable {
        var custom = false
        var status = false
        var type = false

        fileprivate init(_ names: some Collection<Substring>) {
            custom = names.contains("custom")
            status = names.contains("status")
            type = names.contains("type")
        }
    }

    let own: Fields
    /// Of the record at the other end of a membership; nil where only its id is shown.
    let other: Fields?

    /// - Parameter other: `channel` or `uuid`: what the other end of a membership is called.
    init(_ request: WireRequest, other: String = "") {
        let names = request["include"]?.split(separator: ",") ?? []
        own = Fields(names)
        let prefix = other + "."
        let parts = names.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.utf8.count) }
        self.other = names.contains { $0 == other } || !parts.isEmpty ? Fields(parts) : nil
    }
}
