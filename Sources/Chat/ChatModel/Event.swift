public import JSON

/// The class of an event that the wire languages ask for: PubNub's history sees messages and files only, among them the
/// events of an app's own types, which are its messages with a label.
public enum EventKind: Int, Sendable, CaseIterable {
    case message = 0, signal = 1, recordChange = 2, action = 3, file = 4, presence = 5, other = 6

    /// The word in the native envelope. Changes of records are `other` there: their types say which.
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

    /// The kind that an envelope's word stands for; `other` for a word that this version does not know.
    public init(name: String) {
        self = [.message, .signal, .action, .file, .presence].first { $0.name == name } ?? .other
    }
}

/// How long an event can be read (`layout.md`, *One log, two retentions*).
public enum Retention: Sendable {
    /// Durable; in history until the app's retention or its own `expires`.
    case kept
    /// Ephemeral: for catching up within 120 s, never in history, forgotten by a restart.
    case passing
}

/// The declared schema that accepted an event.
public struct SchemaReference: Hashable, Sendable {
    public var type: String
    public var version: Int

    public init(type: String, version: Int) {
        self.type = type
        self.version = version
    }
}

/// An event before the log has given it its place. The fields are those of the envelope (`events.md` 1).
public struct EventDraft: Sendable {
    public var channel: ChannelID
    public var type: String
    public var kind: EventKind
    public var retention: Retention
    /// The payload, byte for byte as the sender wrote it.
    public var data: JSONText
    /// Who caused it; nil when the gateway or an operator did.
    public var user: String?
    public var meta: JSONText?
    public var customType: String?
    public var schema: SchemaReference?
    /// Shared by all events of one call.
    public var cause: String?
    public var audience: Audience = .subscribers
    public var originDevice: String?
    /// The text a dialect's readers get when it differs from `data` (`events.md` 5); `null` hides it from them.
    public var wire: JSONText?
    /// The message to whose thread it belongs: of a reply, and of what becomes of a reply. Nil for everything else.
    public var thread: Timetoken?
    /// Other channels on which the readers of another service's wire get the event as well (``ChannelSet/hearsEchoes``). They
    /// are never stored: a reader that resumes further back than the log reaches in memory finds the event on its own channel
    /// alone.
    public var echoes: [String] = []
    /// Not readable from this moment on.
    public var expires: Timetoken?
    /// Whether it is the retention of its type that ends it, an hour after its place at the earliest, and not what its sender
    /// asked for. Its end is a loss to who was not there (``EventLog/loss(in:types:after:)``).
    public var isEndedByType = false
    /// The same (channel, key) within the window returns the first event. 1..255 bytes.
    public var deduplicationKey: String?
    /// The trace it came of, so that every attempt to deliver it belongs to that; nil for an event that is not traced.
    public var trace: TraceContext?
    /// Where it goes instead of the end: it happened elsewhere, and is moved here. Nil for everything else.
    ///
    /// What goes there is in history alone: who follows the log is never told of it, however far back he resumes, and
    /// neither are webhooks. It is kept, takes no deduplication key, and lies before the end of the log. The same event
    /// on the same channel is there once: moved again, it is the repeat of the first. Where another event has the place,
    /// the next free one is taken.
    public var past: Timetoken?

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

    /// What the event weighs in queues and rings, in bytes: its texts and a fixed part.
    public var weight: Int {
        data.count + (meta?.count ?? 0) + (wire?.count ?? 0) + channel.name.utf8.count + type.utf8.count
            + (user?.utf8.count ?? 0) + echoes.reduce(0) { $0 + $1.utf8.count + 16 } + 160
    }
}

/// Something that happened on a channel, at its place in the log. Immutable.
///
/// A class, so that handing one to many feeds costs a reference instead of copying a dozen fields.
public final class Event: Sendable {
    public let timetoken: Timetoken
    public let draft: EventDraft
    /// Whether its type is one of ``BuiltInTypes/namedOnly``: asked for every feed.
    public let isNamedOnly: Bool

    public init(timetoken: Timetoken, draft: EventDraft) {
        self.timetoken = timetoken
        self.draft = draft
        isNamedOnly = draft.type == BuiltInTypes.channelActivity
    }

    public var id: String { timetoken.eventID }
    public var channel: ChannelID { draft.channel }
    public var type: String { draft.type }
    public var kind: EventKind { draft.kind }
    public var retention: Retention { draft.retention }
    public var data: JSONText { draft.data }
    public var user: String? { draft.user }
    public var meta: JSONText? { draft.meta }
    public var customType: String? { draft.customType }
    public var audience: Audience { draft.audience }
}

/// Who may see an event on a stream opened as a user's device (`events.md` 4). Kept with the event, never printed.
///
/// Webhooks, and streams and history of services, do not ask. A user's own credential does, also where it listens or reads
/// as nobody: see `Selection.isOfUser` and `Event.isReadable(by:)`.
public enum Audience: Hashable, Sendable {
    /// Everyone allowed on the channel.
    case subscribers
    /// What `subscribers` are on a channel that is for its members: those who have joined it.
    case insiders
    /// No stream, poll or listener; webhooks do (fire).
    case webhooks
    /// Readers of another service's wire alone. All other readers and webhooks get the same fact by another event.
    case wire
    /// - Parameter subjects: the users the rule speaks of beside the members: who joined, who is mentioned.
    case rule(AudienceRule, subjects: [String] = [])
}

/// A set of devices by its name (`sendbird.md` 1.2 and 7), evaluated when the event commits. For a change of membership it is
/// the union of what it is before and after.
public enum AudienceRule: String, Sendable, CaseIterable {
    /// Devices inside an open channel.
    case participants
    case participantsButOrigin = "participants-origin_device"
    case participantsAndSubjects = "participants+subject"
    /// Devices of members that have joined.
    case joined = "members.joined"
    case joinedButOrigin = "members.joined-origin_device"
    case joinedAndSubjects = "members.joined+subject"
    case joinedButSubjects = "members.joined-subject_user"
    /// The subjects are the authors of the thread.
    case joinedAndThreadButOrigin = "members.joined+thread-origin_device"
    /// Devices of members, the invited ones too.
    case members = "members.all"
    case membersButOrigin = "members.all-origin_device"
    /// The subjects' devices, as far as they are members or inside.
    case mentioned
    case mentionedButOrigin = "mentioned-origin_device"
    /// All devices of the subjects.
    case user
    /// The device the call came from, and no other.
    case device
    /// Devices whose channel list holds the channel: of members, and of those inside or subscribed by name; and
    /// the subjects' devices.
    case channelList = "channel_list"
}
