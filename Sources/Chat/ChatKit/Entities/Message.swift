public import ChatModel

/// A message, with the values that it had when it was read.
public struct Message: Sendable, Identifiable {
    /// The chat that read the message.
    public let chat: Chat
    let state: MessageState
    /// The author of the message. Set only in a message that a delegate receives. Nil for a message of the gateway or
    /// of an API key without a user.
    public internal(set) var sender: User?
    /// The previous values of the changed fields (`data`, `edited`), by their names. Set only in a message that a
    /// delegate receives because of a change.
    public internal(set) var oldValues: [String: AnyJSON] = [:]

    /// Creates a message from its state, for example in a test.
    public init(chat: Chat, _ state: MessageState) {
        self.chat = chat
        self.state = state
    }

    public var id: Timetoken { state.timetoken }
    /// The timetoken, which is the message's id in its channel and the time at which it was sent.
    public var timetoken: Timetoken { state.timetoken }
    /// The channel's name.
    public var channelId: String { state.channel }
    /// The author's id; empty when the gateway or an API key without a user sent the message.
    public var userId: String { state.user ?? "" }
    /// The text after all edits; empty when the message is deleted or has no text.
    public var text: String { state.data.messageText }
    /// The payload after all edits; null when the message is deleted.
    public var content: AnyJSON { state.data }
    /// The metadata that was sent with the message; nil for none.
    public var meta: [String: any JSONCodable]? { state.meta?.members }
    /// The label that was sent with the message; nil for none.
    public var customMessageType: String? { state.customType }
    /// True when the message was edited.
    public var isEdited: Bool { state.edited != nil }
    /// True after a soft deletion.
    public var isDeleted: Bool { state.deleted != nil }
    /// True when the message has replies.
    public var hasThread: Bool { state.replies > 0 }
    /// The number of replies.
    public var replyCount: Int { state.replies }
    /// The timetoken of the message that this message replies to; nil when it is not a reply.
    public var parentTimetoken: Timetoken? { state.threadOf }
    /// The number of users who reacted with each value.
    public var reactions: [String: Int] { state.reactions }
    /// The quoted message with its values at the time of quoting; nil when the message quotes none.
    public var quotedMessage: QuotedMessage? { state.meta?["quotedMessage"].flatMap { QuotedMessage($0) } }

    /// The channel, without its record.
    public var channel: Channel { chat.channel(channelId) }

    /// The message's events as sequences. For each sequence there is also an `on…` method with a closure.
    public var stream: MessageStreams { MessageStreams(message: self) }
}

/// A quoted message, with its values at the time of quoting.
public struct QuotedMessage: Sendable, Equatable {
    /// The timetoken of the quoted message.
    public let timetoken: Timetoken
    /// The text at the time of quoting.
    public let text: String
    /// The id of the author; empty when the gateway or an API key without a user sent the message.
    public let userId: String

    init?(_ value: AnyJSON) {
        guard let timetoken = value.timetoken("timetoken") else { return nil }
        self.timetoken = timetoken
        text = value.text("text") ?? ""
        userId = value.text("userId") ?? ""
    }
}
