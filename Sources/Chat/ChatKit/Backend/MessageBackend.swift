public import ChatModel
public import JSON

/// Messages of a ``ChatBackend`` and what becomes of them.
public protocol MessageBackend: Sendable {
    /// Sends a message that may quote, reply or mention.
    func send(_ posting: OutgoingMessage, _ ties: MessageReferences) async throws(ChatError) -> Timetoken
    /// Nil when there is none.
    func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> MessageState?
    func messages(_ query: EventQuery) async throws(ChatError) -> Page<MessageState>
    func replies(
        to timetoken: Timetoken, in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<MessageState>
    func edit(
        _ timetoken: Timetoken, in channel: String, _ content: EditedContent
    ) async throws(ChatError) -> MessageState
    func delete(_ timetoken: Timetoken, in channel: String, isHard: Bool) async throws(ChatError)
    func react(_ value: String, to timetoken: Timetoken, in channel: String) async throws(ChatError)
    func takeBack(_ value: String, from timetoken: Timetoken, in channel: String) async throws(ChatError)
    /// A page of who reacted with what.
    func reactions(
        to timetoken: Timetoken, in channel: String, cursor: String?
    ) async throws(ChatError) -> Page<Reaction>
    /// Attaches something of the app's own.
    func addAction(
        _ type: String, _ value: String, to timetoken: Timetoken, in channel: String
    ) async throws(ChatError) -> MessageAction
    /// Takes an action back, an edit or a soft deletion too.
    ///
    /// - Parameter place: the action's own timetoken.
    func removeAction(_ place: Timetoken, from timetoken: Timetoken, in channel: String) async throws(ChatError)
    func actions(of timetoken: Timetoken, in channel: String) async throws(ChatError) -> [MessageAction]
    func pin(_ timetoken: Timetoken, in channel: String) async throws(ChatError)
    func unpin(_ timetoken: Timetoken, in channel: String) async throws(ChatError)
    func forward(_ timetoken: Timetoken, in channel: String, to target: String) async throws(ChatError) -> Timetoken
    func report(_ timetoken: Timetoken, in channel: String, reason: String) async throws(ChatError)
    /// The reports of a channel's messages.
    func reports(_ query: EventQuery) async throws(ChatError) -> Page<Event>
}

/// What a message has to do with others.
public struct MessageReferences: Sendable, Equatable {
    /// The message it quotes.
    public var quote: Timetoken?
    /// The message it replies to.
    public var threadOf: Timetoken?
    /// The users it mentions.
    public var mentions: [String] = []
    /// Whether it mentions everybody in the channel, and not single users.
    public var mentionsEverybody = false

    public init() {}
}

/// What a message is to say from now on.
public enum EditedContent: Sendable {
    /// Whatever the payload has beside its text stays.
    case text(String)
    /// The whole payload.
    case all(AnyJSON)
}

/// A user's reaction to a message.
public struct Reaction: Sendable, Equatable {
    public let value: String
    public let userId: String
    /// The reaction's own place.
    public let timetoken: Timetoken

    public init(value: String, userId: String, timetoken: Timetoken) {
        self.value = value
        self.userId = userId
        self.timetoken = timetoken
    }
}

/// What a user attached to a message beside reactions: something of the app's own.
public struct MessageAction: Sendable, Equatable {
    public let type: String
    public let value: String
    public let userId: String
    /// The action's own place.
    public let timetoken: Timetoken

    public init(type: String, value: String, userId: String, timetoken: Timetoken) {
        self.type = type
        self.value = value
        self.userId = userId
        self.timetoken = timetoken
    }
}

/// Something to be put into a channel.
public struct OutgoingMessage: Sendable {
    public enum Form: Sendable, Equatable {
        /// A chat message: any JSON.
        case message
        /// An event of a type of one's own; `custom` without one.
        case event(type: String?)
        /// Small and ephemeral.
        case signal
        /// For webhooks alone: no subscriber sees it, and history does not have it.
        case fire
    }

    public var channel: String
    public var form: Form
    public var data: JSONText
    public var meta: JSONText?
    /// A label of a message or signal.
    public var customType: String?
    /// Whether history keeps it. Signals and fires never are.
    public var isStored = true
    /// Shortens how long it is kept.
    public var hours: Int?

    public init(_ form: Form, on channel: String, data: JSONText) {
        self.form = form
        self.channel = channel
        self.data = data
    }
}
