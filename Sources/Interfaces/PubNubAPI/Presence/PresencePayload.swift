import ChatModel
import JSON

/// A presence event in the PubNub format: its payload, and its metadata, which filter expressions can test.
struct PresencePayload {
    let payload: JSONText
    let meta: JSONText

    /// Converts an event; nil for an event that is not a presence event.
    init?(_ event: Event) {
        guard let action = Self.actions[event.type] else { return nil }
        let user = event.data.rawMember("user")?.rawMember("id")
        let occupancy = event.data.rawMember("occupancy") ?? JSONText(trusted: [UInt8(ascii: "0")])
        let state = event.data.rawMember("state")
        let seconds = event.timetoken.rawValue / Timetoken.ticksPerSecond
        payload = JSONText { writer in
            writer.beginObject()
            writer.member("action", action)
            writer.member("timestamp", seconds)
            if let user { writer.member("uuid", user) }
            writer.member("occupancy", occupancy)
            if let state { writer.member("data", state) }
            for (name, shown) in Self.lists {
                guard let users = event.data.rawMember(name), users.rawElements()?.isEmpty == false else { continue }
                writer.key(text: shown)
                writer.raw(users)
            }
            if let refresh = event.data.rawMember("here_now_refresh") { writer.member("here_now_refresh", refresh) }
            writer.endObject()
        }
        meta = JSONText { writer in
            writer.beginObject()
            writer.member("pn_action", action)
            if let user { writer.member("pn_uuid", user) }
            writer.member("pn_timestamp", seconds)
            writer.member("pn_occupancy", occupancy)
            writer.member("pn_ispresence", 1)
            writer.member("pn_channel", event.channel.name)
            for (name, value) in state?.rawMembers() ?? [] {
                writer.key(text: "pn_state_" + name)
                writer.raw(value)
            }
            writer.endObject()
        }
    }

    private static let actions = [
        "presence.joined": "join", "presence.left": "leave", "presence.timed_out": "timeout",
        "presence.state_changed": "state-change", "presence.interval": "interval",
    ]
    /// The lists of users: the name of each list in the stored event, and the name that SDKs use. Some of PubNub's
    /// documentation uses other names.
    private static let lists = [("joined", "join"), ("left", "leave"), ("timed_out", "timeout")]

    static func shows(_ event: Event) -> Bool { actions[event.type] != nil }
}
