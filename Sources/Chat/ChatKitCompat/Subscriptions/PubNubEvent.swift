import ChatKit

/// An event that a subscription receives.
public enum PubNubEvent {
    case messageReceived(any PubNubMessage)
    case signalReceived(any PubNubMessage)
    case presenceChanged(any PubNubPresenceChange)
    case messageActionChanged(PubNubMessageActionEvent)
    case fileChanged(PubNubFileChangeEvent)
    case appContextChanged(PubNubAppContextEvent)
}

/// The addition or removal of a message action.
public enum PubNubMessageActionEvent {
    case added(any PubNubMessageAction)
    case removed(any PubNubMessageAction)
}

/// The announcement of a file in a message.
public enum PubNubFileChangeEvent {
    case uploaded(PubNubFileEvent)
}

/// A change of a record of a user, channel or membership.
public enum PubNubAppContextEvent {
    case userMetadataSet(PubNubUserMetadataChangeset)
    case userMetadataRemoved(metadataId: String)
    case channelMetadataSet(PubNubChannelMetadataChangeset)
    case channelMetadataRemoved(metadataId: String)
    case membershipMetadataSet(any PubNubMembershipMetadata)
    case membershipMetadataRemoved(any PubNubMembershipMetadata)
}

/// An event with its timetoken and channel. When several subscriptions of a client receive the same event, the client
/// recognizes the event by these two values.
struct ReceivedEvent {
    struct Position: Hashable, Sendable {
        let timetoken: Timetoken
        let channel: String
    }

    let position: Position
    let event: PubNubEvent

    /// Converts an event of ChatKit. Returns nil for an event that PubNub's SDK does not have, such as a receipt, the
    /// typing of a user, or a reply.
    init?(_ received: ChatKit.SubscriptionEvent) {
        let event = received.event
        position = Position(timetoken: event.published.rawValue, channel: event.channel.name)
        switch received {
        case .messageReceived(let message): self.event = .messageReceived(PubNubMessageBase(message, .message))
        case .signalReceived(let signal): self.event = .signalReceived(PubNubMessageBase(signal, .signal))
        case .fileChanged(let file):
            guard let announced = PubNubFileEvent(file) else { return nil }
            self.event = .fileChanged(.uploaded(announced))
        case .presenceChanged(let change): self.event = .presenceChanged(PubNubPresenceChangeBase(change))
        case .messageActionChanged(let change):
            guard let action = PubNubMessageActionEvent(change) else { return nil }
            self.event = .messageActionChanged(action)
        case .appContextChanged(let change):
            guard let change = PubNubAppContextEvent(change) else { return nil }
            self.event = .appContextChanged(change)
        case .other: return nil
        }
    }
}

extension PubNubMessageActionEvent {
    /// Converts a change of a message to the addition or removal of a message action. An edit becomes an action of the
    /// type `edited`, and a deletion becomes an action of the type `deleted`. Returns nil for a reply.
    fileprivate init?(_ event: MessageActionEvent) {
        func action(_ type: String, _ value: String) -> PubNubMessageActionBase {
            Self.base(
                event,
                MessageAction(
                    type: type, value: value, userId: event.event.publisher ?? "",
                    timetoken: event.event.published))
        }
        let undone = event.event.payload["undone"]
        switch event.change {
        case .added(let added): self = .added(Self.base(event, added))
        case .removed(let removed): self = .removed(Self.base(event, removed))
        case .updated where undone != nil:
            self = .removed(action(undone?["type"]?.string ?? "edited", undone?["value"]?.string ?? ""))
        case .updated(let data):
            let text = data?.string ?? data?["text"]?.string ?? data.map { "\(AnyJSON($0))" }
            self = .added(action("edited", text ?? ""))
        case .deleted: self = .added(action("deleted", "deleted"))
        case .threadUpdated: return nil
        }
    }

    private static func base(_ event: MessageActionEvent, _ action: MessageAction) -> PubNubMessageActionBase {
        PubNubMessageActionBase(
            action, on: event.messageTimetoken, in: event.event.channel.name, subscription: event.event.subscription,
            published: event.event.published.rawValue)
    }
}

extension PubNubAppContextEvent {
    /// Converts a change of a record. Returns nil when the change affects only fields that the records of this library
    /// do not have, such as the moderators of a channel.
    fileprivate init?(_ event: AppContextEvent) {
        switch event {
        case .userSet(let change):
            let changeset = PubNubUserMetadataChangeset(change)
            guard change.isNew || !changeset.changes.isEmpty else { return nil }
            self = .userMetadataSet(changeset)
        case .userRemoved(_, let user): self = .userMetadataRemoved(metadataId: user)
        case .channelSet(let change):
            let changeset = PubNubChannelMetadataChangeset(change)
            guard change.isNew || !changeset.changes.isEmpty else { return nil }
            self = .channelMetadataSet(changeset)
        case .channelRemoved(_, let channel): self = .channelMetadataRemoved(metadataId: channel)
        case .membershipSet(let change):
            self = .membershipMetadataSet(PubNubMembershipMetadataBase(change.record))
        case .membershipRemoved(_, let user, let channel):
            self = .membershipMetadataRemoved(
                PubNubMembershipMetadataBase(userMetadataId: user, channelMetadataId: channel))
        }
    }
}
