import ChatModel
import JSON

/// What became of a record, as this wire tells it (`pubnub-wire.md` 14.6): two words for what happened, three for what to.
struct ObjectPayload {
    let payload: JSONText

    /// Nil for an event that is none, and for a change of nothing that this wire knows.
    init?(_ event: Event) {
        guard let (type, isSet) = Self.types[event.type] else { return nil }
        // Where it is there, it holds the fields that the app's other readers do not see.
        let text = event.draft.wire ?? event.data
        guard let data = (try? JSONDocument(text))?.root else { return nil }
        var fields: [(name: String, value: JSONText)] = []
        switch event.type {
        case "user.created": fields = Self.shown(text.rawMember("user"), Self.userFields)
        case "user.updated": fields = Self.changed(text, Self.userFields)
        case "channel.created", "channel.updated": fields = Self.changed(event.data, Self.channelFields)
        case "member.joined": fields = Self.shown(event.data, Self.membershipFields)
        case "membership.updated": fields = Self.changed(event.data, Self.membershipFields)
        default: break
        }
        guard !fields.isEmpty || !event.type.hasSuffix(".updated") else { return nil }
        let member = Self.member(data)
        if type == "membership", member == nil { return nil }
        payload = JSONText { writer in
            writer.beginObject()
            writer.member("source", "objects")
            writer.member("version", "2.0")
            writer.member("event", isSet ? "set" : "delete")
            writer.member("type", type)
            writer.key("data")
            writer.beginObject()
            if let member, type == "membership" {
                writer.key("channel")
                writer.bareID(event.channel.name)
                writer.key("uuid")
                writer.bareID(member)
            } else {
                writer.member("id", event.channel.name)
            }
            for (name, value) in fields {
                writer.key(text: name)
                writer.raw(value)
            }
            if isSet || type == "membership" { writer.version(event.timetoken) }
            writer.endObject()
            writer.endObject()
        }
    }

    /// Whether an event announces the change of a record.
    static func isRecordChange(_ event: Event) -> Bool { types[event.type] != nil }

    private static let types: [String: (type: String, isSet: Bool)] = [
        "user.created": ("uuid", true), "user.updated": ("uuid", true), "user.deleted": ("uuid", false),
        "channel.created": ("channel", true), "channel.updated": ("channel", true),
        "channel.deleted": ("channel", false), "channel.frozen": ("channel", true),
        "channel.unfrozen": ("channel", true),
        "member.joined": ("membership", true),
        "membership.updated": ("membership", true), "member.left": ("membership", false),
        "member.declined": ("membership", false),
    ]
    /// What is kept under a name, and what this wire calls it.
    private static let userFields = [
        "name": "name", "nickname": "name", "profile_url": "profileUrl", "email": "email", "external_id": "externalId",
        "type": "type", "status": "status", "custom": "custom",
    ]
    private static let channelFields = [
        "name": "name", "description": "description", "type": "type", "status": "status", "custom": "custom",
    ]
    private static let membershipFields = ["type": "type", "status": "status", "custom": "custom"]

    private static func shown(_ object: JSONText?, _ names: [String: String]) -> [(name: String, value: JSONText)] {
        (object?.rawMembers() ?? []).compactMap { member in
            member.value == .null ? nil : names[member.name].map { ($0, member.value) }
        }
    }

    /// The fields that differ, as they are now; one that was cleared is null.
    private static func changed(_ data: JSONText, _ names: [String: String]) -> [(name: String, value: JSONText)] {
        (data.rawMember("changes")?.rawElements() ?? []).compactMap { change in
            guard let key = (try? JSONDocument(change))?.root["key"]?.string, let name = names[key] else { return nil }
            return (name, change.rawMember("new") ?? .null)
        }
    }

    private static func member(_ data: JSONValue) -> String? {
        (data["user_id"] ?? data["user"]?["user_id"] ?? data["invitee"]?["user_id"])?.string
    }
}
