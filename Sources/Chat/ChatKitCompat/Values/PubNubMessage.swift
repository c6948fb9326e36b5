import ChatKit
import ChatModel

/// The kind of a message.
public enum PubNubMessageType: Int, Codable, Hashable, Sendable {
    case message = 0, signal = 1, object = 2, messageAction = 3, file = 4
    case unknown = 999
}

/// A message or a signal, which is a small message that is not stored.
public protocol PubNubMessage {
    /// The content.
    var payload: any JSONCodable { get set }
    /// The actions of the message. Empty unless a history with actions was requested.
    var actions: [any PubNubMessageAction] { get set }
    /// The id of the sender; nil when the gateway or an API key without a user sent the message.
    var publisher: String? { get set }
    /// The name of the channel.
    var channel: String { get }
    /// The pattern or channel group by which the message was received; nil when the channel itself is subscribed.
    var subscription: String? { get }
    /// The timetoken of the message, which is the time at which it was sent.
    var published: Timetoken { get set }
    /// The metadata with which the message was sent; nil for none.
    var metadata: (any JSONCodable)? { get set }
    /// The kind of the message.
    var messageType: PubNubMessageType { get set }
    /// The label with which the message was sent; for an event with a type of the app, this type; nil for none.
    var customMessageType: String? { get set }
}

/// A message or a signal, as a value.
public struct PubNubMessageBase: PubNubMessage {
    public var payload: any JSONCodable
    public var actions: [any PubNubMessageAction] = []
    public var publisher: String?
    public let channel: String
    public let subscription: String?
    public var published: Timetoken
    public var metadata: (any JSONCodable)?
    public var messageType: PubNubMessageType
    public var customMessageType: String?

    /// Creates a message, for example in a test.
    public init(
        payload: any JSONCodable, publisher: String?, channel: String, subscription: String? = nil,
        published: Timetoken, metadata: (any JSONCodable)? = nil, customMessageType: String? = nil,
        messageType: PubNubMessageType = .message
    ) {
        self.payload = payload
        self.publisher = publisher
        self.channel = channel
        self.subscription = subscription
        self.published = published
        self.metadata = metadata
        self.customMessageType = customMessageType
        self.messageType = messageType
    }

    init(_ state: MessageState) {
        self.init(
            payload: AnyJSON(state.data), publisher: state.user, channel: state.channel,
            published: state.timetoken.rawValue, metadata: state.meta.map { AnyJSON($0) },
            customMessageType: state.customType)
    }

    init(_ event: LiveEvent, _ type: PubNubMessageType) {
        let isTyped = event.type != BuiltInTypes.messageCreated && !BuiltInTypes.isReserved(event.type)
        self.init(
            payload: AnyJSON(event.payload), publisher: event.publisher, channel: event.channel.name,
            subscription: event.subscription, published: event.published.rawValue,
            metadata: event.metadata.map { AnyJSON($0) },
            customMessageType: event.customMessageType ?? (isTyped ? event.type : nil), messageType: type)
    }
}

/// A message action, which a user attaches to a message: a reaction, an edit, a deletion, or an action of a type of the
/// app.
public protocol PubNubMessageAction {
    /// The type: `reactions`, `edited`, `deleted` or a type of the app.
    var actionType: String { get }
    /// The value of the action, such as an emoji.
    var actionValue: String { get }
    /// The time at which the action was added, which is also the action's id.
    var actionTimetoken: Timetoken { get }
    /// The timetoken of the message that has the action.
    var messageTimetoken: Timetoken { get }
    /// The id of the user who added the action; empty when an API key without a user added the action.
    var publisher: String { get }
    /// The name of the channel.
    var channel: String { get }
    /// The pattern or channel group by which the action was received; nil when the channel itself is subscribed.
    var subscription: String? { get }
    /// The timetoken of the event; nil for an action that was read and not received.
    var published: Timetoken? { get }
}

/// A message action, as a value.
public struct PubNubMessageActionBase: PubNubMessageAction, Codable, Hashable, Sendable {
    public let actionType: String
    public let actionValue: String
    public let actionTimetoken: Timetoken
    public let messageTimetoken: Timetoken
    public let publisher: String
    public let channel: String
    public let subscription: String?
    public let published: Timetoken?

    /// Creates an action, for example in a test.
    public init(
        actionType: String, actionValue: String, actionTimetoken: Timetoken, messageTimetoken: Timetoken,
        publisher: String, channel: String, subscription: String? = nil, published: Timetoken? = nil
    ) {
        self.actionType = actionType
        self.actionValue = actionValue
        self.actionTimetoken = actionTimetoken
        self.messageTimetoken = messageTimetoken
        self.publisher = publisher
        self.channel = channel
        self.subscription = subscription
        self.published = published
    }

    init(
        _ action: MessageAction, on message: ChatModel.Timetoken, in channel: String, subscription: String? = nil,
        published: Timetoken? = nil
    ) {
        self.init(
            actionType: action.type, actionValue: action.value, actionTimetoken: action.timetoken.rawValue,
            messageTimetoken: message.rawValue, publisher: action.userId, channel: channel,
            subscription: subscription, published: published)
    }
}

/// A file that a message announces. The gateway does not store files.
public struct PubNubFile: Hashable, Sendable {
    /// The name of the channel.
    public let channel: String
    /// The id of the file.
    public let fileId: String
    /// The name of the file.
    public let filename: String

    /// Creates the description of an announced file, for example in a test.
    public init(channel: String, fileId: String, filename: String) {
        self.channel = channel
        self.fileId = fileId
        self.filename = filename
    }
}

/// A message that announces a file.
public struct PubNubFileEvent {
    /// The pattern or channel group by which the message was received; nil when the channel itself is subscribed.
    public let channelGroup: String?
    /// The id of the sender; empty when the gateway or an API key without a user sent the message.
    public let publisher: String
    /// The timetoken of the message.
    public let timetoken: Timetoken
    /// The announced file.
    public let file: PubNubFile
    /// The message that was sent together with the file; nil for none.
    public let additionalMessage: (any JSONCodable)?
    /// The metadata with which the message was sent; nil for none.
    public let metadata: (any JSONCodable)?
    /// The label with which the message was sent; nil for none.
    public var customMessageType: String?

    /// Reads the announcement of a file from an event. Returns nil when the event's message announces no file.
    init?(_ event: LiveEvent) {
        let data = event.payload
        guard let file = data["file"], let id = file["id"]?.string, let name = file["name"]?.string else { return nil }
        channelGroup = event.subscription
        publisher = event.publisher ?? ""
        timetoken = event.published.rawValue
        self.file = PubNubFile(channel: event.channel.name, fileId: id, filename: name)
        additionalMessage = data["message"].map { AnyJSON($0) }
        metadata = event.metadata.map { AnyJSON($0) }
        customMessageType = event.customMessageType
    }
}

/// A change of the users who are present in a channel.
public protocol PubNubPresenceChange {
    /// The users who became present, stopped being present or changed their state.
    var actions: [PubNubPresenceChangeAction] { get }
    /// The number of present users after the change.
    var occupancy: Int { get }
    /// The time of the change.
    var timetoken: Timetoken { get }
    /// True when the event has too many user ids and does not contain all of them. In this case, read the present users
    /// with `hereNow`.
    var refreshHereNow: Bool { get }
    /// The name of the channel.
    var channel: String { get }
    /// The pattern or channel group by which the event was received; nil when the channel itself is subscribed.
    var subscription: String? { get }
}

/// A change of the users who are present in a channel, as a value.
public struct PubNubPresenceChangeBase: PubNubPresenceChange {
    public var actions: [PubNubPresenceChangeAction]
    public var occupancy: Int
    public var timetoken: Timetoken
    public var refreshHereNow: Bool
    public var channel: String
    public var subscription: String?

    /// Creates a change, for example in a test.
    public init(
        actions: [PubNubPresenceChangeAction], occupancy: Int, timetoken: Timetoken, refreshHereNow: Bool,
        channel: String, subscription: String? = nil
    ) {
        self.actions = actions
        self.occupancy = occupancy
        self.timetoken = timetoken
        self.refreshHereNow = refreshHereNow
        self.channel = channel
        self.subscription = subscription
    }

    init(_ change: ChatKit.PresenceChange) {
        self.init(
            actions: change.actions.map { action in
                switch action {
                case .join(let users): .join(uuids: users)
                case .leave(let users): .leave(uuids: users)
                case .timeout(let users): .timeout(uuids: users)
                case .stateChange(let user, let state): .stateChange(uuid: user, state: AnyJSON(state))
                }
            },
            occupancy: change.occupancy, timetoken: change.timetoken.rawValue, refreshHereNow: change.refreshHereNow,
            channel: change.channelId, subscription: change.event.subscription)
    }
}

/// The users who became present in a channel, stopped being present, or changed their state.
public enum PubNubPresenceChangeAction {
    case join(uuids: [String])
    case leave(uuids: [String])
    /// The users stopped being present because their clients sent no more heartbeats.
    case timeout(uuids: [String])
    case stateChange(uuid: String, state: any JSONCodable)
}

extension [PubNubPresenceChangeAction] {
    /// Returns true if the actions include a join by the user `uuid`.
    public func join(contains uuid: String) -> Bool {
        contains { if case .join(let users) = $0 { users.contains(uuid) } else { false } }
    }

    /// Returns true if the actions include a leave by the user `uuid`.
    public func leave(contains uuid: String) -> Bool {
        contains { if case .leave(let users) = $0 { users.contains(uuid) } else { false } }
    }

    /// Returns true if the actions include a timeout of the user `uuid`.
    public func timeout(contains uuid: String) -> Bool {
        contains { if case .timeout(let users) = $0 { users.contains(uuid) } else { false } }
    }
}
