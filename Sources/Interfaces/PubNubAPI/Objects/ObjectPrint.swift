import ChatCore
import ChatModel
import JSON

/// The `eTag` of a record in the PubNub API: the timetoken of its last change in base 36, which the event of the change
/// also shows.
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
    ///   - name: the member name of the other end: `channel` or `uuid`.
    ///   - printOther: prints the other end.
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
    /// Prints the restriction as the membership that Chat SDKs expect; see `MembershipRecord`.
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

    /// Prints the requested members among `type`, `status` and `custom`.
    fileprivate mutating func members(
        _ fields: ObjectInclude.Fields, _ type: String?, _ status: String?, _ custom: JSONText?
    ) {
        if fields.type { optional("type", type) }
        if fields.status { optional("status", status) }
        if fields.custom { member("custom", custom ?? .null) }
    }

    /// Prints the time of the last change and the version's tag.
    mutating func version(_ updated: Timetoken) {
        member("updated", updated.timestamp)
        member("eTag", ObjectTag.text(updated))
    }

    /// Prints an object with nothing but the id, for an object that has no record.
    mutating func bareID(_ id: String) {
        beginObject()
        member("id", id)
        endObject()
    }
}

/// The optional fields that a request for objects includes.
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
    /// The included fields of the record at the other end of a membership; nil when only its id is shown.
    let other: Fields?

    /// - Parameter other: the name of the other end of a membership: `channel` or `uuid`.
    init(_ request: WireRequest, other: String = "") {
        let names = request["include"]?.split(separator: ",") ?? []
        own = Fields(names)
        let prefix = other + "."
        let parts = names.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.utf8.count) }
        self.other = names.contains { $0 == other } || !parts.isEmpty ? Fields(parts) : nil
    }
}
