public import ChatModel

/// A message, as it was when it was read.
public struct Message: Sendable, Identifiable {
    /// The chat in which it was read.
    public let chat: Chat
    let state: MessageState
    /// The author; only in a message that a delegate receives, and nil for a message of the gateway or an operator.
    public internal(set) var sender: User?
    /// The values that the change has replaced, by the name of the field (`data`, `edited`); only in a message that a
    /// delegate receives because of a change.
    public internal(set) var oldValues: [String: AnyJSON] = [:]

    /// Creates a message from its state, for example in a test.
    public init(chat: Chat, _ state: MessageState) {
        self.chat = chat
        self.state = state
    }

    public var id: Timetoken { state.timetoken }
    /// The message's id in its channel, and the time at which it was sent.
    public var timetoken: Timetoken { state.timetoken }
    /// The channel's name.
    public var channelId: String { state.channel }
    /// The author's id; empty when the gateway or an operator sent the message.
    public var userId: String { state.user ?? "" }
    /// The newest text; empty when the message is deleted or has no text.
    public var text: String { state.data.messageText }
    /// The newest payload; null when the message is deleted.
    public var content: AnyJSON { state.data }
    /// The metadata with which the message was sent.
    public var meta: [String: any JSONCodable]? { state.meta?.members }
    /// The label with which the message was sent.
    public var customMessageType: String? { state.customType }
    /// True when the text or the payload was replaced.
    public var isEdited: Bool { state.edited != nil }
    /// True after a soft deletion.
    public var isDeleted: Bool { state.deleted != nil }
    /// True when the message has replies.
    public var hasThread: Bool { state.replies > 0 }
    /// The number of replies.
    public var replyCount: Int { state.replies }
    /// The message that this one replies to; nil when it is no reply.
    public var parentTimetoken: Timetoken? { state.threadOf }
    /// The number of users who reacted with each value.
    public var reactions: [String: Int] { state.reactions }
    /// The quoted message as it was when it was quoted: its `timetoken`, `text` and `userId`.
    public var quotedMessage: QuotedMessage? { state.meta?["quotedMessage"].flatMap { QuotedMessage($0) } }

    /// The channel, without its record.
    public var channel: Channel { chat.channel(channelId) }

    /// The sequences of the message's events. For each of them there is also an `on…` method that takes a closure.
    public var stream: MessageStreams { MessageStreams(message: self) }
}

/// A message as it was when another one quoted it.
public struct QuotedMessage: Sendable, Equatable {
    /// The timetoken of the quoted message.
    public let timetoken: Timetoken
    /// The text at the time of quoting.
    public let text: String
    /// The author of the quoted message; empty when the gateway or an operator sent it.
    public let userId: String

    init?(_ value: AnyJSON) {
        guard let timetoken = value.timetoken("timetoken") else { return nil }
        self.timetoken = timetoken
        text = value.text("text") ?? ""
        userId = value.text("userId") ?? ""
    }
}
