import ChatCore
import ChatModel
import ClientCommands
import JSON
import PubNubAPI

/// Converts a keyset's responses to lines that a gateway imports (`POST /v1/import`).
enum KeysetRecords {
    /// The prefix in the names of moderation channels, whose members are restrictions.
    static let restrictionsPrefix = "PUBNUB_INTERNAL_MODERATION_"
    static let restrictionNewsPrefix = "PUBNUB_INTERNAL_MODERATION."
    static let oldReports = "PUBNUB_INTERNAL_ADMIN_CHANNEL"

    private static let userFields = [
        "name": "name", "externalId": "external_id", "profileUrl": "profile_url", "email": "email", "type": "type",
        "status": "status", "custom": "custom",
    ]
    private static let channelFields = [
        "name": "name", "description": "description", "type": "type", "status": "status", "custom": "custom",
    ]

    static func user(_ id: String, _ object: JSONText) -> JSONText {
        line("user") { writer in
            writer.member("id", id)
            copy(object, userFields, to: &writer)
        }
    }

    static func channel(_ id: String, _ object: JSONText) -> JSONText {
        line("channel") { writer in
            writer.member("id", id)
            copy(object, channelFields, to: &writer)
        }
    }

    static func membership(_ user: String, _ channel: String, _ object: JSONText) -> JSONText {
        line("membership") { writer in
            let edit = ImportMembership.edit(object)
            writer.member("user", user)
            writer.member("channel", channel)
            if edit.entry == .invite { writer.member("state", MemberState.invited.rawValue) }
            if case .set(let type) = edit.type { writer.member("type", type) }
            if case .set(let status) = edit.status { writer.member("status", status) }
            if case .set(let custom) = edit.custom { writer.member("custom", custom) }
            if let read = edit.read { writer.member("read_timetoken", read.description) }
        }
    }

    static func group(_ id: String, _ channels: [String]) -> JSONText {
        line("group") { writer in
            writer.member("id", id)
            writer.member("channels", channels)
        }
    }

    /// Returns the restriction that a member of a moderation channel represents; nil when the restriction was removed.
    static func restriction(_ user: String, _ channel: String, _ custom: JSONValue?) -> JSONText? {
        let (ban, mute) = (custom?["ban"]?.boolean ?? false, custom?["mute"]?.boolean ?? false)
        guard ban || mute else { return nil }
        return line("restriction") { writer in
            writer.member("user", user)
            writer.member("channel", channel)
            writer.member("ban", ban)
            writer.member("mute", mute)
            if let reason = custom?["reason"]?.string, !reason.isEmpty { writer.member("reason", reason) }
        }
    }

    /// The maximum number of actions on one line. A message with more actions has several lines.
    private static let actionsPerLine = 500

    /// Returns the lines for a message of a history and its actions; empty when no gateway can accept the message.
    static func message(_ channel: String, _ item: JSONValue, _ text: JSONText) -> [JSONText] {
        guard let place = item["timetoken"]?.string, let payload = text.rawMember("message") else { return [] }
        var meta = item["meta"]?.isNull ?? true ? nil : text.rawMember("meta")
        if item["meta"]?.string == "" { meta = nil }
        let draft = ImportedPublish.draft(
            channel: channel, payload: payload, user: item["uuid"]?.string.flatMap { $0.isEmpty ? nil : $0 },
            label: item["custom_message_type"]?.string, meta: meta,
            isFile: item["message_type"]?.integer == 4 || item["message_type"]?.string == "4")
        guard let draft else { return [] }
        let actions = actions(of: item)
        return stride(from: 0, to: max(actions.count, 1), by: actionsPerLine).map { start in
            line("message") { writer in
                writer.member("channel", channel)
                writer.member("timetoken", place)
                writer.member("type", draft.type)
                if let user = draft.user { writer.member("user", user) }
                writer.member("data", draft.data)
                if let meta = draft.meta { writer.member("meta", meta) }
                if let label = draft.customType { writer.member("custom_type", label) }
                if let wire = draft.wire { writer.member("wire", wire) }
                if draft.kind == .file { writer.member("file", true) }
                print(actions[start...].prefix(actionsPerLine), to: &writer)
            }
        }
    }

    private static func print(_ actions: ArraySlice<Action>, to writer: inout JSONWriter) {
        guard !actions.isEmpty else { return }
        writer.key("actions")
        writer.beginArray()
        for action in actions {
            writer.beginObject()
            writer.member("type", action.type)
            writer.member("value", action.value)
            writer.member("user", action.user)
            writer.member("timetoken", action.place)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Returns the channels that contain the replies to a message.
    static func threads(of item: JSONValue) -> [String] {
        actions(of: item).filter { $0.type == "threadRootId" }.map(\.value)
    }

    private struct Action {
        let type: String
        let value: String
        let user: String
        let place: String
    }

    private static func actions(of item: JSONValue) -> [Action] {
        var found: [Action] = []
        for (type, values) in item["actions"]?.members ?? [] {
            for (value, actions) in values.members ?? [] {
                for action in actions.elements ?? [] {
                    guard let user = action["uuid"]?.string, let place = action["actionTimetoken"]?.string else {
                        continue
                    }
                    found.append(Action(type: type, value: value, user: user, place: place))
                }
            }
        }
        return found
    }

    private static func line(_ record: String, _ print: (inout JSONWriter) -> Void) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("record", record)
            print(&writer)
            writer.endObject()
        }.onOneLine()
    }

    private static func copy(_ object: JSONText, _ names: [String: String], to writer: inout JSONWriter) {
        for (name, value) in object.rawMembers() ?? [] where value != .null {
            guard let name = names[name] else { continue }
            writer.key(text: name)
            writer.raw(value)
        }
    }
}
