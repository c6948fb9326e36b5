import ChatCore
import ChatModel
import JSON

/// An event in the form that PubNub readers see. The initializer returns nil for an event that PubNub readers do not
/// see.
struct VisiblePayload {
    /// The member `e` of the envelope, which is the kind of the event; nil for messages.
    var kind: Int?
    /// The member `d` of the envelope, which is the payload.
    var payload: JSONText
    /// The member `cmt` of the envelope, which is the custom type; nil when the event has none.
    var label: String?
    /// The member `i` of the envelope, which is the event's user; nil when the event has none.
    var user: String?
    /// The member `u` of the envelope, which is the metadata; nil when the event has none.
    var meta: JSONText?

    /// True for changes of records and messages. Every subscriber of the channel receives these events, regardless of
    /// the subscriber's filter.
    var isNeverFiltered: Bool { kind == Self.record || kind == Self.action }

    init?(_ event: Event) {
        self.init(payloadOf: event)
        guard event.kind != .presence else { return }
        if kind != Self.record { user = Self.typingUser(event) ?? event.user }
        meta = event.draft.thread == nil ? event.meta : event.meta?.withoutThread
    }

    private init?(payloadOf event: Event) {
        if let wire = event.draft.wire, !ObjectPayload.isRecordChange(event) {
            guard wire != .null else { return nil }
            payload = wire
            kind = event.kind == .signal || Self.signals.contains(event.type) ? Self.signal : nil
            label = Self.label(of: event)
        } else if event.type == BuiltInTypes.messageCreated {
            payload = Self.isNativeText(event.data) ? Self.textPayload(event.data) : event.data
            kind = event.kind == .file ? Self.file : nil
            label = event.customType
        } else if event.type == BuiltInTypes.signalSent || !BuiltInTypes.isReserved(event.type) {
            payload = event.data
            kind = event.kind == .signal ? Self.signal : nil
            label = Self.label(of: event)
        } else if let presence = PresencePayload(event) {
            payload = presence.payload
            meta = presence.meta
        } else if let action = ActionPayload(event) {
            payload = action.payload
            kind = Self.action
        } else if let object = ObjectPayload(event) {
            payload = object.payload
            kind = Self.record
        } else if let shown = Self.chatEvent(event) {
            self = shown
        } else {
            return nil
        }
    }

    /// Returns true when PubNub readers see the event. Builds the payload only if ``showsAtOnce(_:)`` returns false.
    static func shows(_ event: Event) -> Bool {
        showsAtOnce(event) || VisiblePayload(event) != nil
    }

    /// Returns true for an event that PubNub readers certainly see, which is decided without building its payload. If
    /// the result is false, PubNub readers may still see the event.
    static func showsAtOnce(_ event: Event) -> Bool {
        if let wire = event.draft.wire, !ObjectPayload.isRecordChange(event) { return wire != .null }
        return event.type == BuiltInTypes.messageCreated || event.type == BuiltInTypes.signalSent
            || !BuiltInTypes.isReserved(event.type) || PresencePayload.shows(event)
    }

    init(kind: Int? = nil, _ print: (inout JSONWriter) -> Void) {
        self.kind = kind
        payload = JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.endObject()
        }
    }

    /// Types that Chat SDKs send as signals.
    private static let signals: Set<String> = ["typing.started", "typing.stopped", "receipt.read"]

    /// The user whose typing state expired, from the data of the event, because such an event has no `user`. Nil for
    /// any other event.
    private static func typingUser(_ event: Event) -> String? {
        guard event.type == "typing.stopped", event.user == nil else { return nil }
        return (try? JSONDocument(event.data))?.root["user"]?["id"]?.string
    }

    static let signal = 1
    static let record = 2
    static let action = 3
    static let file = 4

    /// The label of an event for PubNub readers. The label is the event's type if the type is an app's own type, and
    /// the event's `customType` otherwise; nil when the event has no `customType`. A type from the native API may be a
    /// name that a publish does not permit as a label (`Names.isLabel`).
    private static func label(of event: Event) -> String? {
        let isOwn = !BuiltInTypes.isReserved(event.type) && event.type != BuiltInTypes.custom
        return isOwn ? event.type : event.customType
    }

    // MARK: Messages

    /// Returns true for a message of the native API: an object with the member `text` and without the member `type`.
    /// Any other message has a payload in PubNub's format.
    static func isNativeText(_ data: JSONText) -> Bool {
        guard let text = data.rawMember("text"), text.bytes.first == UInt8(ascii: "\"") else { return false }
        return data.rawMember("type") == nil
    }

    /// A message of the native API in the message format of the Chat SDKs.
    private static func textPayload(_ data: JSONText) -> JSONText {
        JSONText(capacity: data.count + 40) { writer in
            writer.beginObject()
            writer.member("type", "text")
            writer.member("text", data.rawMember("text") ?? .null)
            writer.member("files", JSONText(trusted: Array("[]".utf8)))
            writer.endObject()
        }
    }
}

// MARK: - Chat events from other APIs

extension VisiblePayload {
    private static func chatEvent(_ event: Event) -> VisiblePayload? {
        switch event.type {
        case "typing.started", "typing.stopped":
            VisiblePayload(kind: signal) { writer in
                writer.member("type", "typing")
                writer.member("value", event.type == "typing.started")
            }
        case "receipt.read": shown("receipt", kind: signal, event, [("messageTimetoken", ["read_timetoken"])])
        case "user.mentioned": mention(event)
        case "member.invited": invitation(event)
        case "report.created": report(event)
        case "user.banned", "user.muted", "user.unbanned", "user.unmuted": restriction(event)
        default: nil
        }
    }

    /// Builds a payload whose members are copied from the event's data. `source` contains the path of each member in
    /// the data.
    private static func shown(
        _ type: String, kind: Int? = nil, _ event: Event, _ members: [(name: String, source: [String])]
    ) -> VisiblePayload {
        VisiblePayload(kind: kind) { writer in
            writer.member("type", type)
            for (name, source) in members {
                writer.key(text: name)
                writer.raw(source.reduce(event.data) { $0?.rawMember($1) } ?? .null)
            }
        }
    }

    /// A report in PubNub's format. The reported text is in the member `message` of the event's data, or in the member
    /// `text` if a PubNub client has sent the report.
    private static func report(_ event: Event) -> VisiblePayload {
        let data = (try? JSONDocument(event.data))?.root
        let said = data?["message"]?["data"]
        let text = said?.string ?? said?["text"]?.string ?? data?["text"]?.string
        return VisiblePayload { writer in
            writer.member("type", "report")
            if let text { writer.member("text", text) } else { writer.nullMember("text") }
            for (name, source) in reportMembers {
                writer.key(text: name)
                writer.raw(source.reduce(event.data) { $0?.rawMember($1) } ?? .null)
            }
        }
    }

    private static let reportMembers = [
        ("reason", ["reason"]), ("reportedMessageTimetoken", ["message", "timetoken"]),
        ("reportedMessageChannelId", ["message", "channel"]), ("reportedUserId", ["author", "id"]),
        ("autoModerationId", ["auto_moderation_id"]),
    ]

    /// An invitation in PubNub's format. Nil on the channel to which the user is invited. This channel also receives
    /// the event, but PubNub clients do not expect the event there.
    private static func invitation(_ event: Event) -> VisiblePayload? {
        let channel = event.data.rawMember("channel")
        guard let id = channel?.rawMember("id"), id != JSONText(string: event.channel.name) else { return nil }
        return VisiblePayload { writer in
            writer.member("type", "invite")
            writer.member("channelType", channel?.rawMember("kind") ?? .null)
            writer.member("channelId", id)
        }
    }

    /// A mention in PubNub's format. A message in a thread is shown on the thread's own channel.
    private static func mention(_ event: Event) -> VisiblePayload {
        let message = (try? JSONDocument(event.data))?.root["message"]
        let (channel, root) = (message?["channel"]?.string ?? "", message?["thread_of"]?.string)
        let thread = root.flatMap { Timetoken(text: $0) }.map { MappedThread(parent: channel, root: $0) }
        return VisiblePayload { writer in
            writer.member("type", "mention")
            writer.member("messageTimetoken", message?["timetoken"]?.string ?? "")
            writer.member("channel", thread?.name ?? channel)
            if thread != nil { writer.member("parentChannel", channel) } else { writer.nullMember("parentChannel") }
        }
    }

    /// A restriction in PubNub's format. Nil except on the user's channel and on the user's moderation channel, where
    /// clients expect it.
    private static func restriction(_ event: Event) -> VisiblePayload? {
        guard let user = WireNames.user(ofModeration: event.channel.name),
            let text = event.data.rawMember("restriction"), text.rawMember("user") == JSONText(string: user),
            let data = try? JSONDocument(text).root
        else { return nil }
        let word = data["ban"]?.boolean == true ? "banned" : data["mute"]?.boolean == true ? "muted" : "lifted"
        var shown = VisiblePayload { writer in
            writer.member("type", "moderation")
            writer.member("channelId", WireNames.moderationPrefix + (data["channel"]?.string ?? ""))
            writer.member("restriction", word)
            writer.member("reason", text.rawMember("reason") ?? .null)
        }
        shown.label = "moderated"
        return shown
    }
}

extension JSONText {
    /// The metadata of a reply without the reference to the thread: the metadata that the sender wrote, or nil.
    fileprivate var withoutThread: JSONText? {
        let members = (rawMembers() ?? []).filter { $0.name != MessageLinks.threadName }
        guard !members.isEmpty else { return nil }
        return JSONText { writer in
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                writer.raw(value)
            }
            writer.endObject()
        }
    }
}

/// Names that the Chat SDKs give to their internal channels.
enum WireNames {
    static let moderationPrefix = "PUBNUB_INTERNAL_MODERATION_"
    static let userModerationPrefix = "PUBNUB_INTERNAL_MODERATION."
    private static let oldModeration = "PUBNUB_INTERNAL_ADMIN_CHANNEL"

    /// Returns true for a channel on which reports about messages of another channel are published.
    static func isModeration(_ channel: String) -> Bool {
        channel == oldModeration || channel.hasPrefix(moderationPrefix)
    }

    /// The user whose restrictions are published on this channel; nil when the name contains no user. Newer clients use
    /// a moderation channel for each user, and older clients use the user's own channel.
    static func user(ofModeration channel: String) -> String? {
        guard channel.hasPrefix(userModerationPrefix) else { return channel }
        let user = channel.dropFirst(userModerationPrefix.count)
        return user.isEmpty ? nil : String(user)
    }

    /// The channel to which a moderation channel belongs; the name itself for any other channel.
    static func channel(ofModeration name: String) -> String { moderated(on: name) ?? name }

    /// The channel to which a moderation channel belongs; nil for any other channel.
    static func moderated(on name: String) -> String? {
        name.hasPrefix(moderationPrefix) && name.count > moderationPrefix.count
            ? String(name.dropFirst(moderationPrefix.count)) : nil
    }
}
