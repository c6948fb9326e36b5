public import ChatModel
public import JSON

/// An event as a subscription receives it. The members of ``Event`` can be read directly: `event.type`.
@dynamicMemberLookup
public struct LiveEvent: Sendable {
    /// The event with all its members.
    public let event: Event
    /// The channel pattern or the channel group by which the subscription received the event. Nil when the subscription
    /// names the channel itself, and when it has several groups, because the event does not tell which of them matched.
    public internal(set) var subscription: String?
    /// The objects beside the event as the gateway printed them; nil when the subscription requests none.
    let includedText: JSONText?
    /// The chat that received the event; nil before a listener has read it.
    var chat: Chat?

    /// An event, with the objects that the gateway printed beside it.
    public init(_ event: Event, included: JSONText? = nil) {
        self.event = event
        includedText = included
    }

    /// A member of ``event``.
    public subscript<Value>(dynamicMember path: KeyPath<Event, Value>) -> Value { event[keyPath: path] }

    /// The id of the user who caused the event; nil for the gateway or an operator.
    public var publisher: String? { event.user }
    /// The payload as a value. ``AnyJSON/decode(_:)`` reads it into a type of the program's own.
    public var payload: AnyJSON { AnyJSON(event.data) }
    /// The time and position of the event.
    public var published: Timetoken { event.timetoken }
    /// The metadata of a message as a value.
    public var metadata: AnyJSON? { event.meta.map { AnyJSON($0) } }
    /// The label with which a message or signal was sent.
    public var customMessageType: String? { event.customType }

    /// The size for queues, in bytes.
    package var weight: Int { event.draft.weight + (includedText?.count ?? 0) }

    /// The objects that the subscription requested with `include`; nil when it requested none.
    public var included: IncludedObjects? {
        guard let includedText, let chat else { return nil }
        return IncludedObjects(chat: chat, text: includedText, channelId: event.channel.name)
    }
}

/// An object that a subscription can request beside each event.
public enum IncludedObject: String, CaseIterable, Sendable {
    /// The record of the user who caused the event.
    case user
    /// The record of the event's channel.
    case channel
    /// The thread that the message begins or belongs to.
    case thread
    /// The membership of the event's user in the event's channel.
    case member
}

/// The objects beside an event, as they were when the event was sent. An object is nil when it was not requested, does
/// not exist, or is not visible to the reader.
public struct IncludedObjects: Sendable {
    let chat: Chat
    let text: JSONText
    let channelId: String

    /// The user who caused the event; nil when it was not requested or there is none.
    public var user: User? {
        text.rawMember("user").flatMap { User(chat: chat, printed: $0) }
    }

    /// The event's channel; nil when it was not requested or has no record.
    public var channel: Channel? {
        text.rawMember("channel").map { Channel(chat: chat, id: channelId, shown: $0) }
    }

    /// The membership of the user in the channel; nil when it was not requested or there is none.
    public var member: Membership? {
        text.rawMember("member").flatMap { Membership(chat: chat, printed: $0) }
    }

    /// The thread: its `reply_count`, `authors` and `last_reply_timetoken`.
    public var thread: AnyJSON? { text.rawMember("thread").map { AnyJSON($0) } }
}

extension User {
    /// Reads a user as the native API prints it. Returns nil for other JSON.
    init?(chat: Chat, printed text: JSONText) {
        guard let root = try? JSONDocument(text).root, let id = root["id"]?.string else { return nil }
        var record = UserRecord(id: id, root, text)
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(chat: chat, record)
    }
}

extension Membership {
    /// Reads a membership as the native API prints it. Returns nil for other JSON.
    init?(chat: Chat, printed text: JSONText) {
        guard let root = try? JSONDocument(text).root, var record = MembershipRecord(root, text) else { return nil }
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(chat: chat, record)
    }
}
