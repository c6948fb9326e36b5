import ChatModel
import JSON

/// The creation, change or deletion of a user, a channel or a membership.
public enum AppContextEvent: Sendable {
    case userSet(RecordChangeset<User>)
    case userRemoved(LiveEvent, userId: String)
    case channelSet(RecordChangeset<Channel>)
    case channelRemoved(LiveEvent, channelId: String)
    case membershipSet(RecordChangeset<Membership>)
    case membershipRemoved(LiveEvent, userId: String, channelId: String)

    /// Reads the creation, change or deletion of a record from an event. Returns nil for any other event, such as a
    /// mention, a restriction or a count of members.
    init?(_ event: LiveEvent, _ chat: Chat) {
        let (raw, data) = (event.data, event.payload)
        switch event.type {
        case "user.created", "user.updated":
            guard let user = raw.rawMember("user").flatMap({ User(chat: chat, printed: $0) }) else { return nil }
            self = .userSet(RecordChangeset(event, user, isNew: event.type == "user.created"))
        case "user.deleted": self = .userRemoved(event, userId: data["user"]?.text("id") ?? event.channel.name)
        case "channel.created", "channel.updated", "channel.frozen", "channel.unfrozen":
            let channel = Channel(chat: chat, id: event.channel.name, shown: raw.rawMember("channel"))
            self = .channelSet(RecordChangeset(event, channel, isNew: event.type == "channel.created"))
        case "channel.deleted": self = .channelRemoved(event, channelId: event.channel.name)
        case "member.joined", "membership.updated", "member.invited":
            guard let member = raw.rawMember("membership").flatMap({ Membership(chat: chat, printed: $0) }) else {
                return nil
            }
            self = .membershipSet(RecordChangeset(event, member, isNew: event.type != "membership.updated"))
        case "member.left", "member.declined":
            guard let user = data["membership"]?.text("user") ?? (data["user"] ?? data["invitee"])?.text("id") else {
                return nil
            }
            self = .membershipRemoved(event, userId: user, channelId: event.channel.name)
        default: return nil
        }
    }

    /// The event as it was received.
    public var event: LiveEvent {
        switch self {
        case .userSet(let change): change.event
        case .channelSet(let change): change.event
        case .membershipSet(let change): change.event
        case .userRemoved(let event, _), .channelRemoved(let event, _), .membershipRemoved(let event, _, _): event
        }
    }
}

/// A created or changed record, with the fields that changed.
public struct RecordChangeset<Record: Sendable>: Sendable {
    /// The event that reports the change.
    public let event: LiveEvent
    /// The record after the change, with only the fields that the event contains.
    public let record: Record
    /// True when the record was created.
    public let isNew: Bool
    /// The changed fields; empty for a new record.
    public let changes: [FieldChange]

    fileprivate init(_ event: LiveEvent, _ record: Record, isNew: Bool) {
        self.event = event
        self.record = record
        self.isNew = isNew
        if case .array(let changes) = event.payload["changes"] {
            self.changes = changes.compactMap { FieldChange($0) }
        } else {
            changes = []
        }
    }
}

/// The change of one field of a record.
public struct FieldChange: Sendable, Equatable {
    /// The field's name in the REST API, such as `name` or `custom_type`.
    public let key: String
    /// The value before the change; nil when there was none.
    public let old: AnyJSON?
    /// The value after the change; nil when the field was removed.
    public let new: AnyJSON?

    fileprivate init?(_ change: AnyJSON) {
        guard let key = change.text("key") else { return nil }
        self.key = key
        old = change["old"].flatMap { $0 == .null ? nil : $0 }
        new = change["new"].flatMap { $0 == .null ? nil : $0 }
    }
}
