public import ChatModel

/// A reaction was added to a message, or removed.
public struct ReactionEvent: Sendable {
    /// The timetoken of the message.
    public let messageTimetoken: Timetoken
    /// The reaction: a key or an emoji.
    public let key: String
    /// True when the reaction was added, false when it was removed.
    public let isAdded: Bool
    /// The user who reacted.
    public let user: User
    /// The number of users with this reaction after the event.
    public let count: Int

    /// Creates an event, for example in a test.
    public init(messageTimetoken: Timetoken, key: String, isAdded: Bool, user: User, count: Int) {
        self.messageTimetoken = messageTimetoken
        self.key = key
        self.isAdded = isAdded
        self.user = user
        self.count = count
    }
}

/// A reply to a message was created or deleted.
public struct ThreadEvent: Sendable {
    /// The timetoken of the message that was replied to.
    public let parentTimetoken: Timetoken
    /// The timetoken of the reply; nil when several replies were deleted.
    public let replyTimetoken: Timetoken?
    /// True when the reply was created, false when replies were deleted.
    public let isReplyCreated: Bool
    /// The number of replies after the change.
    public let replyCount: Int
    /// The timetoken of the newest reply after the change; nil when there is none.
    public let lastReplyTimetoken: Timetoken?
    /// The authors with the most replies, at most 5.
    public let mostReplies: [User]

    /// Creates an event, for example in a test.
    public init(
        parentTimetoken: Timetoken, replyTimetoken: Timetoken?, isReplyCreated: Bool, replyCount: Int,
        lastReplyTimetoken: Timetoken?, mostReplies: [User]
    ) {
        self.parentTimetoken = parentTimetoken
        self.replyTimetoken = replyTimetoken
        self.isReplyCreated = isReplyCreated
        self.replyCount = replyCount
        self.lastReplyTimetoken = lastReplyTimetoken
        self.mostReplies = mostReplies
    }
}

/// The event that a member has read newer messages, or that a device of a member has received newer messages.
public struct ReceiptEvent: Sendable {
    /// The member who read or received the messages.
    public let user: User
    /// The timetoken of the newest message that the member read or received.
    public let timetoken: Timetoken
    /// The number of joined members who have not read or received the message with this timetoken; nil in channels with
    /// more than 100 members.
    public let missingMemberCount: Int?

    /// Creates an event, for example in a test.
    public init(user: User, timetoken: Timetoken, missingMemberCount: Int?) {
        self.user = user
        self.timetoken = timetoken
        self.missingMemberCount = missingMemberCount
    }
}
