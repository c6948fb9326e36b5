public import ChatModel
public import JSON

/// An event that a subscription received. The members of ``Event`` are also members of this type, such as `event.type`.
@dynamicMemberLookup
public struct LiveEvent: Sendable {
    /// The event with all its members.
    public let event: Event
    /// The channel pattern or channel group that selected the event. Nil when the subscription names the channel
    /// itself. Also nil when one of several groups selected the event, because the event does not show which group it
    /// was.
    public internal(set) var subscription: String?
    /// The included objects in the JSON form of the gateway; nil when the subscription requests none.
    let includedText: JSONText?
    /// The chat that received the event; nil before a listener has processed the event.
    var chat: Chat?

    /// Creates an event, with the included objects in the JSON form of the gateway.
    public init(_ event: Event, included: JSONText? = nil) {
        self.event = event
        includedText = included
    }

    /// A member of ``event``.
    public subscript<Value>(dynamicMember path: KeyPath<Event, Value>) -> Value { event[keyPath: path] }

    /// The id of the user who caused the event; nil when the gateway or an API key without a user caused the event.
    public var publisher: String? { event.user }
    /// The payload as a JSON value. ``AnyJSON/decode(_:)`` converts it into a type of the program.
    public var payload: AnyJSON { AnyJSON(event.data) }
    /// The time of the event, which is also its position in the event log.
    public var published: Timetoken { event.timetoken }
    /// The metadata of a message as a JSON value; nil for none.
    public var metadata: AnyJSON? { event.meta.map { AnyJSON($0) } }
    /// The label that was sent with a message or signal; nil for none.
    public var customMessageType: String? { event.customType }

    /// The size of the event in bytes, as queues count it.
    package var weight: Int { event.weight + (includedText?.count ?? 0) }

    /// The objects that the subscription requested with `include`; nil when it requested none.
    public var included: IncludedObjects? {
        guard let includedText, let chat else { return nil }
        return IncludedObjects(chat: chat, text: includedText, channelId: event.channel.name)
    }
}

/// An object that a subscription can include with each event.
public enum IncludedObject: String, CaseIterable, Sendable {
    /// The record of the user who caused the event.
    case user
    /// The record of the event's channel.
    case channel
    /// The thread that the message started or belongs to.
    case thread
    /// The membership of the event's user in the event's channel.
    case member
}

/// The objects included with an event, with their values at the time at which the gateway sent the event. An object is
/// nil when it was not requested, does not exist, or is not visible to the reader.
public struct IncludedObjects: Sendable {
    let chat: Chat
    let text: JSONText
    let channelId: String

    /// The user who caused the event; nil when not requested, and when there is no user.
    public var user: User? {
        text.rawMember("user").flatMap { User(chat: chat, printed: $0) }
    }

    /// The event's channel; nil when not requested, and when the channel has no record.
    public var channel: Channel? {
        text.rawMember("channel").map { Channel(chat: chat, id: channelId, shown: $0) }
    }

    /// The membership of the event's user in the event's channel; nil when not requested, and when there is none.
    public var member: Membership? {
        text.rawMember("member").flatMap { Membership(chat: chat, printed: $0) }
    }

    /// The summary of the thread, with the members `reply_count`, `authors` and `last_reply_timetoken`; nil when there
    /// is none.
    public var thread: AnyJSON? { text.rawMember("thread").map { AnyJSON($0) } }
}

extension User {
    /// Reads a user in the JSON form of the native API. Returns nil for other JSON.
    init?(chat: Chat, printed text: JSONText) {
        guard let root = try? JSONDocument(text).root, let id = root["id"]?.string else { return nil }
        var record = UserRecord(id: id, root, text)
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(chat: chat, record)
    }
}

extension Membership {
    /// Reads a membership in the JSON form of the native API. Returns nil for other JSON.
    init?(chat: Chat, printed text: JSONText) {
        guard let root = try? JSONDocument(text).root, var record = MembershipRecord(root, text) else { return nil }
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(chat: chat, record)
    }
}
