import ChatCore
import ChatModel
import JSON

/// The `eTag` of a record in the PubNub API: the timetoken of the record's last change, in base 36. The event about the
/// change has the same timetoken.
enum ObjectTag {
    static func text(_ updated: Timetoken) -> String { String(updated.rawValue, radix: 36) }

    /// The tag in an `If-Match` header field, which may have quotes.
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
    /// Prints the membership as the next value of `writer`.
    ///
    /// - Parameters:
    ///   - name: the name of the member that contains the other object of the membership: `channel` or `uuid`.
    ///   - printOther: prints the other object.
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
    /// Prints the restriction in the form of a membership, as Chat SDKs expect it. The parameters are those of `print`
    /// in `MembershipRecord`.
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

    /// Prints the members `type`, `status` and `custom`, as far as the request includes them.
    fileprivate mutating func members(
        _ fields: ObjectInclude.Fields, _ type: String?, _ status: String?, _ custom: JSONText?
    ) {
        if fields.type { optional("type", type) }
        if fields.status { optional("status", status) }
        if fields.custom { member("custom", custom ?? .null) }
    }

    /// Prints the time of the last change, and the `eTag` that is derived from this time.
    mutating func version(_ updated: Timetoken) {
        member("updated", updated.timestamp)
        member("eTag", ObjectTag.text(updated))
    }

    /// Prints an object that contains only the id, for a user or channel without a record.
    mutating func bareID(_ id: String) {
        beginObject()
        member("id", id)
        endObject()
    }
}

/// The optional fields that a request for objects includes.
struct ObjectInclude: Sendable {
    /// The optional fields of one object.
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
    /// The optional fields of the other object of a membership; nil when only its id is shown.
    let other: Fields?

    /// Parses the query parameter `include`.
    ///
    /// - Parameter other: the name of the other object of a membership: `channel` or `uuid`; empty for an object that
    ///   is not a membership.
    init(_ request: WireRequest, other: String = "") {
        let names = request["include"]?.split(separator: ",") ?? []
        own = Fields(names)
        let prefix = other + "."
        let parts = names.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.utf8.count) }
        self.other = names.contains { $0 == other } || !parts.isEmpty ? Fields(parts) : nil
    }
}
