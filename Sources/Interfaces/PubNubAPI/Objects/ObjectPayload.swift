import ChatModel
import JSON

/// The change of a record as a PubNub event: `set` or `delete` of a `uuid`, `channel` or `membership`.
struct ObjectPayload {
    let payload: JSONText

    /// Creates the payload for an event that reports the change of a user record, a channel record or a membership. Nil
    /// for any other event, and for a change of fields that PubNub does not have.
    init?(_ event: Event) {
        if let membership = Self.membership(event) {
            payload = membership
            return
        }
        guard let (type, isSet) = Self.types[event.type] else { return nil }
        // The PubNub form also contains the private fields, which other readers of the app do not see. Some events have
        // no PubNub form.
        let text = event.draft.wire ?? event.data
        var fields: [(name: String, value: JSONText)] = []
        switch event.type {
        case "user.created": fields = Self.visible(text.rawMember("user"), Self.userFields)
        case "user.updated": fields = Self.changed(text, Self.userFields)
        case "channel.created": fields = Self.visible(event.data.rawMember("channel"), Self.channelFields)
        case "channel.updated": fields = Self.changed(event.data, Self.channelFields)
        default: break
        }
        guard !fields.isEmpty || !event.type.hasSuffix(".updated") else { return nil }
        payload = Self.payload(type, isSet: isSet) { writer in
            writer.member("id", event.channel.name)
            for (name, value) in fields {
                writer.key(text: name)
                writer.raw(value)
            }
            if isSet { writer.version(event.timetoken) }
        }
    }

    /// The payload of a membership event, for the user's channel and the membership's channel. Nil for other events,
    /// and for a membership event that does not contain the complete membership.
    private static func membership(_ event: Event) -> JSONText? {
        let isSet = event.type == BuiltInTypes.membershipSet
        guard isSet || event.type == BuiltInTypes.membershipRemoved,
            let data = (try? JSONDocument(event.data))?.root, let value = data["membership"],
            let text = event.data.rawMember("membership"), let membership = MembershipRecord(value, text),
            let version = data["version"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        return payload("membership", isSet: isSet) { writer in
            writer.key("channel")
            writer.bareID(membership.channel)
            writer.key("uuid")
            writer.bareID(membership.user)
            if isSet {
                writer.optional("type", membership.type)
                writer.optional("status", membership.wireStatus)
                writer.member("custom", membership.wireCustom ?? .null)
            }
            writer.version(version)
        }
    }

    private static func payload(
        _ type: String, isSet: Bool, _ print: (inout JSONWriter) -> Void
    ) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("source", "objects")
            writer.member("version", "2.0")
            writer.member("event", isSet ? "set" : "delete")
            writer.member("type", type)
            writer.key("data")
            writer.beginObject()
            print(&writer)
            writer.endObject()
            writer.endObject()
        }
    }

    /// Returns true for an event that reports the change of a user or channel record.
    static func isRecordChange(_ event: Event) -> Bool { types[event.type] != nil }

    private static let types: [String: (type: String, isSet: Bool)] = [
        "user.created": ("uuid", true), "user.updated": ("uuid", true), "user.deleted": ("uuid", false),
        "channel.created": ("channel", true), "channel.updated": ("channel", true),
        "channel.deleted": ("channel", false), "channel.frozen": ("channel", true),
        "channel.unfrozen": ("channel", true),
    ]
    /// The stored fields of a user record, each with its PubNub name.
    private static let userFields = [
        "name": "name", "profile_url": "profileUrl", "email": "email", "external_id": "externalId",
        "type": "type", "status": "status", "custom": "custom",
    ]
    private static let channelFields = [
        "name": "name", "description": "description", "type": "type", "status": "status", "custom": "custom",
    ]

    private static func visible(_ object: JSONText?, _ names: [String: String]) -> [(name: String, value: JSONText)] {
        (object?.rawMembers() ?? []).compactMap { member in
            member.value == .null ? nil : names[member.name].map { ($0, member.value) }
        }
    }

    /// The new values of the changed fields. The value of a cleared field is null.
    private static func changed(_ data: JSONText, _ names: [String: String]) -> [(name: String, value: JSONText)] {
        (data.rawMember("changes")?.rawElements() ?? []).compactMap { change in
            guard let key = (try? JSONDocument(change))?.root["key"]?.string, let name = names[key] else { return nil }
            return (name, change.rawMember("new") ?? .null)
        }
    }
}
