public import JSON

/// The class of an event as the wire protocols distinguish it. PubNub's history contains only messages and files;
/// events of an app's own types count as messages with a label.
public enum EventKind: Int, Sendable, CaseIterable {
    case message = 0, signal = 1, recordChange = 2, action = 3, file = 4, presence = 5, other = 6

    /// The word for the kind in the native envelope. Changes of records are `other` there; their types are more
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

    /// Reads the word of an envelope; a word that this version does not know gives `other`.
    public init(name: String) {
        self = [.message, .signal, .action, .file, .presence].first { $0.name == name } ?? .other
    }
}

/// The time for which an event can be read.
public enum Retention: Sendable {
    /// Durable: in history until the app's retention or its own `expires`.
    case kept
    /// Ephemeral: available for catching up for 120 s, never in history, lost on a restart.
    case passing
}

/// The declared schema that an event was validated with.
public struct SchemaReference: Hashable, Sendable {
    /// The name of the event type.
    public var type: String
    /// The number of the schema version, from 1.
    public var version: Int

    /// A reference to one version of a type.
    public init(type: String, version: Int) {
        self.type = type
        self.version = version
    }
}

/// An event before the log assigns its timetoken. The fields are those of the envelope.
///
/// Interfaces translate their requests into drafts (``event(channel:type:data:user:meta:retention:)`` and the like).
/// `ChatAccess.prepare` checks such a draft and completes it; the log appends prepared drafts only.
public struct EventDraft: Sendable {
    /// The channel that the event belongs to.
    public var channel: ChannelID
    /// The event type, built in or declared by the app.
    public var type: String
    /// The kind, which decides the rules that apply to the event.
    public var kind: EventKind
    /// Whether the event stays in history.
    public var retention: Retention
    /// The payload, byte for byte as the sender wrote it.
    public var data: JSONText
    /// The user who caused the event; nil for the gateway or an operator of the app.
    public var user: String?
    /// The metadata of the sender; nil without any.
    public var meta: JSONText?
    /// A label of the sender.
    public var customType: String?
    /// The schema version that the payload was validated with; nil without validation.
    public var schema: SchemaReference?
    /// An id shared by all events of one call.
    public var cause: String?
    /// The readers that receive the event.
    public var audience: Audience = .subscribers
    /// The device that sent the event.
    public var originDevice: String?
    /// The payload for readers of another protocol when it differs from `data`; `null` hides the event from them.
    public var wire: JSONText?
    /// The message whose thread the event belongs to. Set for a reply and for events about a reply; nil for all others.
    public var thread: Timetoken?
    /// Other channels on which readers of another protocol also receive the event (``ChannelSet/receivesEchoes``). They
    /// are not stored: a reader that resumes from before the log's memory finds the event only on its own channel.
    public var echoes: [String] = []
    /// The time from which the event cannot be read.
    public var expires: Timetoken?
    /// True when `expires` comes from the retention of the event's type instead of its sender. It is then at least an
    /// hour after the event's timetoken. The end of such an event counts as a loss
    /// (``EventLog/loss(in:types:after:)``).
    public var isEndedByType = false
    /// A key for deduplication, 1..255 bytes. A repeat with the same channel and key within the window returns the
    /// first event.
    public var deduplicationKey: String?
    /// The trace that the event belongs to, continued by every delivery attempt; nil for an event that is not traced.
    public var trace: TraceContext?
    /// The position of an imported event, instead of the end of the log; nil for all other events.
    ///
    /// An imported event is only in history: log followers never receive it, however far back they resume, and neither
    /// do webhooks. It is kept, takes no deduplication key, and lies before the end of the log. The same event on the
    /// same channel is stored once; importing it again returns the first one. If another event has the position, the
    /// next free one is used.
    public var past: Timetoken?
    /// The lifetime that the sender asked for. Preparing the draft turns it into ``expires``.
    public var timeToLive: Duration?
    /// The payload as the interface parsed it, so that validation need not parse it again. Nil once the draft is
    /// prepared, because events outlive their requests.
    public var parsedData: JSONValue?
    /// True when the type may be a built-in one. Set by an interface for its own calls (messages, signals); senders never
    /// choose a built-in type.
    public var allowsBuiltInType = false

    /// A draft with the fields that most senders set.
    public init(
        channel: ChannelID, type: String, kind: EventKind = .other, retention: Retention = .kept, data: JSONText,
        user: String? = nil, meta: JSONText? = nil
    ) {
        self.channel = channel
        self.type = type
        self.kind = kind
        self.retention = retention
        self.data = data
        self.user = user
        self.meta = meta
    }

    /// The size of the event for queues and buffers, in bytes: its texts and a fixed part.
    public var weight: Int {
        data.count + (meta?.count ?? 0) + (wire?.count ?? 0) + channel.name.utf8.count + type.utf8.count
            + (user?.utf8.count ?? 0) + echoes.reduce(0) { $0 + $1.utf8.count + 16 } + 160
    }
}

extension EventDraft {
    /// An event as a sender asks for it, before any check.
    ///
    /// - Parameters:
    ///   - channel: the name of the channel. Its app is set when the draft is prepared: it is the caller's.
    ///   - type: an app's own type; `custom` when the sender gave none.
    ///   - user: the user who emits; nil for the credential's own user, or for none.
    public static func event(
        channel: String, type: String = BuiltInTypes.custom, data: JSONText, user: String? = nil,
        meta: JSONText? = nil, retention: Retention = .kept
    ) -> EventDraft {
        EventDraft(
            channel: ChannelID(channel, in: AppID("")), type: type, kind: .message, retention: retention, data: data,
            user: user, meta: meta)
    }

    /// A chat message as a sender asks for it: type `message.created`, any JSON as its payload.
    public static func message(channel: String, data: JSONText, user: String?, meta: JSONText?) -> EventDraft {
        var draft = event(channel: channel, type: BuiltInTypes.messageCreated, data: data, user: user, meta: meta)
        draft.allowsBuiltInType = true
        return draft
    }

    /// A signal as a sender asks for it: small, ephemeral, type `signal.sent`.
    public static func signal(channel: String, data: JSONText, user: String?) -> EventDraft {
        var draft = event(
            channel: channel, type: BuiltInTypes.signalSent, data: data, user: user, retention: .passing)
        draft.kind = .signal
        draft.allowsBuiltInType = true
        return draft
    }

    /// The same draft for another channel of the same app.
    public func on(channel name: String) -> EventDraft {
        var draft = self
        draft.channel = ChannelID(name, in: channel.app)
        return draft
    }
}

/// An event on a channel, at its position in the log. Immutable.
///
/// A class, so that handing an event to many feeds costs a reference instead of copying a dozen fields.
public final class Event: Sendable {
    /// The position in the log.
    public let timetoken: Timetoken
    /// The event as it was appended.
    public let draft: EventDraft
    /// True when the type is one of ``BuiltInTypes/namedOnly``. Stored, because every feed checks it.
    public let isNamedOnly: Bool

    /// An event at its position in the log.
    public init(timetoken: Timetoken, draft: EventDraft) {
        self.timetoken = timetoken
        self.draft = draft
        isNamedOnly = draft.type == BuiltInTypes.channelActivity
    }

    /// The event's id, `evt_` and the timetoken.
    public var id: String { timetoken.eventID }
    /// The channel that the event belongs to.
    public var channel: ChannelID { draft.channel }
    /// The event type.
    public var type: String { draft.type }
    /// The kind.
    public var kind: EventKind { draft.kind }
    /// Whether the event stays in history.
    public var retention: Retention { draft.retention }
    /// The payload, byte for byte as the sender wrote it.
    public var data: JSONText { draft.data }
    /// The user who caused the event; nil for the gateway or an operator of the app.
    public var user: String? { draft.user }
    /// The metadata of the sender; nil without any.
    public var meta: JSONText? { draft.meta }
    /// A label of the sender.
    public var customType: String? { draft.customType }
    /// The readers that receive the event.
    public var audience: Audience { draft.audience }
}

/// The audience of an event on streams that are opened as a user's device. Stored with the event, never printed.
///
/// Webhooks, and streams and history of services, do not check it. A user's own credential does, even where it listens
/// or reads without a user: see `Selection.isOfUser` and `Event.isReadable(by:)`.
public enum Audience: Hashable, Sendable {
    /// Everyone with access to the channel.
    case subscribers
    /// The audience that replaces `subscribers` on a channel for members only: members who have joined it.
    case insiders
    /// Webhooks only; no stream, poll or listener (PubNub's fire).
    case webhooks
    /// Only readers of another protocol. All other readers and webhooks get the same information in another event.
    case wire
    /// The devices that a rule selects.
    ///
    /// - Parameter subjects: the users that the rule refers to in addition to the members, such as those who joined or
    ///   are mentioned.
    case rule(AudienceRule, subjects: [String] = [])
}

/// A named set of devices, evaluated when the event commits. For a change of membership, it is the union of the sets
/// before and after the change.
///
/// The *subjects* are the users that the event is about: those who joined, were banned or are mentioned
/// (``Audience/rule(_:subjects:)``).
public enum AudienceRule: String, Sendable, CaseIterable {
    /// Devices inside an open channel.
    case participants
    case participantsButOrigin = "participants-origin_device"
    case participantsAndSubjects = "participants+subject"
    /// Devices of members who have joined.
    case joined = "members.joined"
    case joinedButOrigin = "members.joined-origin_device"
    case joinedAndSubjects = "members.joined+subject"
    case joinedButSubjects = "members.joined-subject_user"
    /// Devices of joined members and of the thread's authors, who are the subjects.
    case joinedAndThreadButOrigin = "members.joined+thread-origin_device"
    /// Devices of all members, including invited ones.
    case members = "members.all"
    case membersButOrigin = "members.all-origin_device"
    /// Devices of those subjects who are members or inside.
    case mentioned
    case mentionedButOrigin = "mentioned-origin_device"
    /// All devices of the subjects, wherever they are.
    case user
    /// Only the device that made the call.
    case device
    /// Devices whose channel list contains the channel (of members, of users inside, and of users who subscribe to it
    /// by name), and the subjects' devices.
    case channelList = "channel_list"
}
