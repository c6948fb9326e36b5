public import JSON

/// The class of an event, as PubNub's protocol distinguishes it. PubNub's history contains only messages and files.
/// Events of an app's own types count as messages with a label.
public enum EventKind: Int, Sendable, CaseIterable {
    case message = 0, signal = 1, recordChange = 2, action = 3, file = 4, presence = 5, other = 6

    /// The name of the kind in the native JSON form. Record changes are `other` there, because their types are more
    /// specific.
    public var name: String {
        switch self {
        case .message: "message"
        case .signal: "signal"
        case .action: "action"
        case .file: "file"
        case .presence: "presence"
        case .recordChange, .other: "other"
        }
    }

    /// Reads the name of a kind. An unknown name gives `other`.
    public init(name: String) {
        self = [.message, .signal, .action, .file, .presence].first { $0.name == name } ?? .other
    }
}

/// The time for which an event can be read.
public enum Retention: Sendable {
    /// Durable: in history until the app's retention time or the event's own `expires`.
    case kept
    /// Ephemeral: available for 120 s to readers that resume, never in history, and lost when the gateway restarts.
    case passing
}

/// The version of a declared schema that validated an event.
public struct SchemaReference: Hashable, Sendable {
    /// The name of the event type.
    public var type: String
    /// The number of the schema version, from 1.
    public var version: Int

    /// Creates a reference to one version of a type.
    public init(type: String, version: Int) {
        self.type = type
        self.version = version
    }
}

/// An event before the event log assigns its timetoken. The fields correspond to the event's JSON form.
///
/// Interfaces create drafts from requests (``event(channel:type:data:user:meta:retention:)`` and similar functions).
/// `ChatAccess` checks and completes a draft (`emit`, `prepare`). The event log appends checked drafts only.
public struct EventDraft: Sendable {
    /// The channel that the event belongs to.
    public var channel: ChannelID
    /// The event type, built in or declared by the app.
    public var type: String
    /// The kind, which determines the rules that apply to the event.
    public var kind: EventKind
    /// The time for which the event can be read: durable or ephemeral.
    public var retention: Retention
    /// The payload, byte for byte as the sender wrote it.
    public var data: JSONText
    /// The name of the user who caused the event; nil when the gateway or an API key without a user caused it.
    public var user: String?
    /// The sender's metadata; nil for none.
    public var meta: JSONText?
    /// The sender's label for the message; nil for none.
    public var customType: String?
    /// The schema version that the payload was validated with; nil without validation.
    public var schema: SchemaReference?
    /// The id of the request that caused the event, if it caused several events. For an event of an inbound webhook, the
    /// id of the post.
    public var cause: String?
    /// The readers that receive the event.
    public var audience: Audience = .subscribers
    /// The id of the device that sent the event; nil when it is not known.
    public var originDevice: String?
    /// The payload for PubNub clients; nil when they receive `data`. A JSON `null` hides the event from them.
    public var wire: JSONText?
    /// The timetoken of the message whose thread the event belongs to. Set for a reply and for events about a reply;
    /// nil for all others.
    public var thread: Timetoken?
    /// The other channels on which PubNub clients also receive the event (``ChannelSet/receivesEchoes``). These
    /// channels are only in memory: a client that resumes from an older position receives the event only on the channel
    /// of the event.
    public var echoes: [String] = []
    /// The time at which the event expires and can no longer be read; nil when only the app's retention applies.
    public var expires: Timetoken?
    /// True when `expires` comes from the retention of the event's type and not from its sender. Such an expiry is at
    /// least an hour after the event's timetoken, and counts as a loss (``EventLog/loss(in:types:after:)``).
    public var isEndedByType = false
    /// A deduplication key of 1 to 255 bytes. Another draft with the same channel and key within the repeat window is
    /// not stored, and its sender receives the first event.
    public var deduplicationKey: String?
    /// The distributed trace of the request, continued by every delivery attempt; nil when the request is not traced.
    public var trace: TraceContext?
    /// The timetoken of an imported event; nil for all other events, which get a timetoken at the end of the event log.
    ///
    /// An imported event is durable, has no deduplication key, and has a timetoken before the end of the event log. It
    /// is readable in history only: streams and webhooks never receive it. Importing the same event on the same channel
    /// again returns the first one. If another event has the timetoken, the next free timetoken is used.
    public var past: Timetoken?
    /// The lifetime that the sender requested. The checks of `ChatAccess` convert it into ``expires``.
    public var timeToLive: Duration?
    /// True when the type may be a built-in one. An interface sets this property to true for its own operations, such
    /// as messages and signals. Clients cannot choose a built-in type.
    public var allowsBuiltInType = false

    /// The size of the event in bytes, as queues and buffers count it: the size of its texts and a fixed amount.
    public var weight: Int {
        data.count + (meta?.count ?? 0) + (wire?.count ?? 0) + channel.name.utf8.count + type.utf8.count
            + (user?.utf8.count ?? 0) + echoes.reduce(0) { $0 + $1.utf8.count + 16 } + 160
    }
}

extension EventDraft {
    /// Creates a draft with the fields that most senders set.
    public init(
        channel: ChannelID, type: String, kind: EventKind = .other, retention: Retention = .kept, data: JSONText,
        user: String? = nil, meta: JSONText? = nil
    ) {
        // The compiler's own initializer sets all fields at once. An initializer that sets one field after the other
        // would copy the draft.
        self.init(
            channel: channel, type: type, kind: kind, retention: retention, data: data, user: user, meta: meta,
            customType: nil)
    }

    /// Creates an event as a client requests it, before any check.
    ///
    /// - Parameters:
    ///   - channel: the name of the channel. The checks of `ChatAccess` set the channel's app to the caller's.
    ///   - type: the type that the client requests, one of the app's own; `custom` when the client sends no type.
    ///   - user: the user who emits the event; nil for the user of the credential, if it has one.
    public static func event(
        channel: consuming String, type: consuming String = BuiltInTypes.custom, data: consuming JSONText,
        user: consuming String? = nil, meta: consuming JSONText? = nil, retention: Retention = .kept
    ) -> EventDraft {
        EventDraft(
            channel: ChannelID(channel, in: AppID("")), type: type, kind: .message, retention: retention, data: data,
            user: user, meta: meta)
    }

    /// Creates a chat message as a client requests it: type `message.created`, with any JSON as the payload.
    public static func message(channel: String, data: JSONText, user: String?, meta: JSONText?) -> EventDraft {
        EventDraft(
            channel: ChannelID(channel, in: AppID("")), type: BuiltInTypes.messageCreated, kind: .message,
            retention: .kept, data: data, user: user, meta: meta, allowsBuiltInType: true)
    }

    /// Creates a signal as a client requests it: a small ephemeral event of type `signal.sent`.
    public static func signal(channel: String, data: JSONText, user: String?) -> EventDraft {
        EventDraft(
            channel: ChannelID(channel, in: AppID("")), type: BuiltInTypes.signalSent, kind: .signal,
            retention: .passing, data: data, user: user, allowsBuiltInType: true)
    }

    /// The same draft for another channel of the same app.
    public func on(channel name: String) -> EventDraft {
        var draft = self
        draft.channel = ChannelID(name, in: channel.app)
        return draft
    }
}

/// An event with its timetoken, which is its position in the event log. Immutable.
///
/// A class, so that passing an event to many readers copies a reference and not a dozen fields.
public final class Event: Sendable {
    /// The position in the event log, unique in the installation.
    public let timetoken: Timetoken
    /// The fields of the event.
    public let draft: EventDraft
    /// True when the type is one of ``BuiltInTypes/namedOnly``. Stored as a property, because it is checked for every
    /// reader.
    public let isNamedOnly: Bool
    /// The size of the event in bytes, as queues and buffers count it.
    public let weight: Int

    /// Creates an event at its position in the event log.
    public init(timetoken: Timetoken, draft: EventDraft) {
        self.timetoken = timetoken
        self.draft = draft
        isNamedOnly = draft.type == BuiltInTypes.channelActivity
        weight = draft.weight
    }

    /// The event's id, `evt_` and the timetoken.
    public var id: String { timetoken.eventID }
    /// The channel that the event belongs to.
    public var channel: ChannelID { draft.channel }
    /// True when the event belongs to the app. Cheaper than comparing the app of ``channel``, which copies names.
    public func isOf(_ app: AppID) -> Bool { draft.channel.app == app }
    /// The event type.
    public var type: String { draft.type }
    /// The kind, which determines the rules that apply to the event.
    public var kind: EventKind { draft.kind }
    /// The time for which the event can be read: durable or ephemeral.
    public var retention: Retention { draft.retention }
    /// The payload, byte for byte as the sender wrote it.
    public var data: JSONText { draft.data }
    /// The name of the user who caused the event; nil when the gateway or an API key without a user caused it.
    public var user: String? { draft.user }
    /// The sender's metadata; nil for none.
    public var meta: JSONText? { draft.meta }
    /// The sender's label for the message; nil for none.
    public var customType: String? { draft.customType }
    /// The readers that receive the event.
    public var audience: Audience { draft.audience }
}

/// The readers that receive an event. Stored with the event, never printed.
///
/// The kind of reader determines which cases are checked. A stream that is opened as a user's device checks all cases.
/// Webhooks, and streams and reads of history with an API key, check only ``webhooks`` and ``wire``. Reads with a user's
/// own credential and without a device also check the rules for single users: see `Selection.isOfUser` for streams and
/// `Event.isReadable(by:)` for history.
public enum Audience: Hashable, Sendable {
    /// Everyone with access to the channel.
    case subscribers
    /// Only members who have joined the channel. Replaces `subscribers` on a channel that is for members only.
    case insiders
    /// Only webhooks; no stream, poll or listener. PubNub calls this *fire*.
    case webhooks
    /// Only PubNub clients. All other readers, and webhooks, get the same information in another event.
    case wire
    /// The devices that a rule selects.
    ///
    /// - Parameter subjects: the users that the event is about, such as users who joined or are mentioned.
    case rule(AudienceRule, subjects: [String] = [])
}

/// A named set of devices, evaluated when the event is committed. For an event about a changed membership, it contains
/// the devices that match before the change and the devices that match after the change.
///
/// The *subjects* of an event are the users that it is about: users who joined, were banned or are mentioned
/// (``Audience/rule(_:subjects:)``). The *origin device* is the device that made the request.
public enum AudienceRule: String, Sendable, CaseIterable {
    /// Devices of users who have entered the open channel.
    case participants
    case participantsButOrigin = "participants-origin_device"
    case participantsAndSubjects = "participants+subject"
    /// Devices of members who have joined.
    case joined = "members.joined"
    case joinedButOrigin = "members.joined-origin_device"
    case joinedAndSubjects = "members.joined+subject"
    case joinedButSubjects = "members.joined-subject_user"
    /// Devices of members who have joined, and of the thread's authors (the subjects), except the origin device.
    case joinedAndThreadButOrigin = "members.joined+thread-origin_device"
    /// Devices of all members, including invited ones.
    case members = "members.all"
    case membersButOrigin = "members.all-origin_device"
    /// Devices of the subjects who are members or have entered the channel.
    case mentioned
    case mentionedButOrigin = "mentioned-origin_device"
    /// All devices of the subjects, even without access to the channel.
    case user
    /// Only the origin device.
    case device
    /// Devices of members, of users who have entered the channel, of users who subscribe to it by name, and of the
    /// subjects. On these devices, the user's list of channels contains the channel.
    case channelList = "channel_list"
}
