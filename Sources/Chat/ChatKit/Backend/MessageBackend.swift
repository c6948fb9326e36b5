public import ChatModel
public import JSON

/// The operations of a ``ChatBackend`` on messages, reactions, actions and reports.
public protocol MessageBackend: Sendable {
    /// Sends a message with its references to other messages and to users. Returns the message's timetoken.
    func send(_ posting: OutgoingMessage, _ links: MessageReferences) async throws(ChatError) -> Timetoken
    /// Returns a message, or nil when it does not exist.
    func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> MessageState?
    /// Returns a page of a channel's messages in their current state.
    func messages(_ query: EventQuery) async throws(ChatError) -> Page<MessageState>
    /// Returns a page of the replies to a message.
    func replies(
        to timetoken: Timetoken, in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<MessageState>
    /// Replaces the text or the payload of a message, and returns the changed message.
    func edit(
        _ timetoken: Timetoken, in channel: String, _ content: EditedContent
    ) async throws(ChatError) -> MessageState
    /// Deletes a message. A soft deletion marks the message as deleted and leaves it in history. A hard deletion
    /// removes it.
    func delete(_ timetoken: Timetoken, in channel: String, isHard: Bool) async throws(ChatError)
    /// Adds the user's reaction to a message.
    func react(_ value: String, to timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// Removes the user's reaction from a message.
    func removeReaction(_ value: String, from timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// Returns a page of a message's reactions with their users.
    func reactions(
        to timetoken: Timetoken, in channel: String, cursor: String?
    ) async throws(ChatError) -> Page<Reaction>
    /// Attaches an action with a type of the app to a message.
    func addAction(
        _ type: String, _ value: String, to timetoken: Timetoken, in channel: String
    ) async throws(ChatError) -> MessageAction
    /// Removes an action from a message. When the action is an edit or a soft deletion, this undoes the change.
    ///
    /// - Parameters:
    ///   - place: the timetoken of the action.
    ///   - timetoken: the timetoken of the message.
    func removeAction(_ place: Timetoken, from timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// Returns the first 250 actions of a message, including reactions.
    func actions(of timetoken: Timetoken, in channel: String) async throws(ChatError) -> [MessageAction]
    /// Pins a message in its channel. Replaces the message that is pinned there.
    func pin(_ timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// Unpins a message.
    func unpin(_ timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// Sends a message to another channel, and returns the timetoken of the copy.
    func forward(_ timetoken: Timetoken, in channel: String, to target: String) async throws(ChatError) -> Timetoken
    /// Reports a message to the channel's moderators.
    func report(_ timetoken: Timetoken, in channel: String, reason: String) async throws(ChatError)
    /// Returns a page of the reports of a channel's messages.
    func reports(_ query: EventQuery) async throws(ChatError) -> Page<Event>
}

/// The references of a message to other messages and to users.
public struct MessageReferences: Sendable, Equatable {
    /// The timetoken of the quoted message; nil for none.
    public var quote: Timetoken?
    /// The timetoken of the message that this message replies to; nil for none.
    public var threadOf: Timetoken?
    /// The ids of the mentioned users.
    public var mentions: [String] = []
    /// True when the message mentions every user of the channel instead of single users.
    public var mentionsEverybody = false

    /// Creates empty references.
    public init() {}
}

/// The new content of an edited message.
public enum EditedContent: Sendable {
    /// Replaces the text of the payload. The other members of the payload do not change.
    case text(String)
    /// Replaces the whole payload.
    case all(AnyJSON)
}

/// A user's reaction to a message.
public struct Reaction: Sendable, Equatable {
    /// The reaction: a key or an emoji.
    public let value: String
    /// The user who reacted.
    public let userId: String
    /// The timetoken of the reaction.
    public let timetoken: Timetoken

    /// Creates a reaction, for example in a test.
    public init(value: String, userId: String, timetoken: Timetoken) {
        self.value = value
        self.userId = userId
        self.timetoken = timetoken
    }
}

/// An action that a user attached to a message.
public struct MessageAction: Sendable, Equatable {
    /// The action's type: `reactions` for a reaction, or a type of the app.
    public let type: String
    /// The action's value, such as the emoji of a reaction.
    public let value: String
    /// The user who added the action.
    public let userId: String
    /// The timetoken of the action.
    public let timetoken: Timetoken

    /// Creates an action, for example in a test.
    public init(type: String, value: String, userId: String, timetoken: Timetoken) {
        self.type = type
        self.value = value
        self.userId = userId
        self.timetoken = timetoken
    }
}

/// The options of one request to a gateway. A chat in the program's own process makes no requests and ignores them.
public struct RequestOptions: Sendable, Equatable {
    /// The maximum duration of each attempt; nil for 30 seconds.
    public var timeout: Duration?
    /// The maximum number of retries when the gateway is busy or cannot be reached; nil for 4.
    public var retries: Int?
    /// True to compress the body with gzip when that makes it smaller.
    public var isCompressed: Bool

    /// Creates request options; nil selects the default.
    public init(timeout: Duration? = nil, retries: Int? = nil, isCompressed: Bool = false) {
        self.timeout = timeout
        self.retries = retries
        self.isCompressed = isCompressed
    }
}

/// An event to publish in a channel.
public struct OutgoingMessage: Sendable {
    /// The kind of an outgoing event.
    public enum Form: Sendable, Equatable {
        /// A chat message. The payload can be any JSON.
        case message
        /// An event with a type of the app; nil for the type `custom`.
        case event(type: String?)
        /// A small event that is not stored.
        case signal
        /// An event for webhooks only. Subscribers do not receive it, and it is not stored in history.
        case fire
    }

    /// The name of the channel.
    public var channel: String
    /// The kind of the event.
    public var form: Form
    /// The payload.
    public var data: JSONText
    /// The metadata, a JSON object that filters can read; nil for none.
    public var meta: JSONText?
    /// The label of a message or signal; nil for none.
    public var customType: String?
    /// True when history stores the event. Signals and fires are never stored.
    public var isStored = true
    /// The number of hours for which history stores the event, if this is shorter than the app's retention. Nil or 0
    /// selects the app's retention.
    public var hours: Int?
    /// The options of the request that publishes the event.
    public var options = RequestOptions()

    /// Creates a stored event without metadata.
    public init(_ form: Form, on channel: String, data: JSONText) {
        self.form = form
        self.channel = channel
        self.data = data
    }
}
