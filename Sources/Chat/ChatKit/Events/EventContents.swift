public import ChatModel

/// The report of a message to the moderators of its channel.
public struct Report: EventContent, Equatable {
    /// The reason of the user who reported it, as free text.
    public let reason: String
    /// The message's text; nil when it has none.
    public let text: String?
    /// The reported message; nil when the report names none.
    public let messageTimetoken: Timetoken?
    /// The channel of the reported message.
    public let reportedMessageChannelId: String?
    /// The author of the reported message.
    public let reportedUserId: String?
    /// The rule that made the report; nil when a user made it.
    public let autoModerationId: String?

    /// A report, for example in a test.
    public init(
        reason: String, text: String? = nil, messageTimetoken: Timetoken? = nil,
        reportedMessageChannelId: String? = nil, reportedUserId: String? = nil, autoModerationId: String? = nil
    ) {
        self.reason = reason
        self.text = text
        self.messageTimetoken = messageTimetoken
        self.reportedMessageChannelId = reportedMessageChannelId
        self.reportedUserId = reportedUserId
        self.autoModerationId = autoModerationId
    }

    init(_ data: AnyJSON) {
        reason = data.text("reason") ?? ""
        let message = data["message"] ?? .null
        text = message["data"].flatMap { $0 == .null ? nil : $0.messageText } ?? data.text("text")
        messageTimetoken = message.timetoken("timetoken")
        reportedMessageChannelId = message.text("channel")
        reportedUserId = data["author"]?.text("id")
        autoModerationId = data.text("auto_moderation_id")
    }
}

/// The mention of the user in a message.
public struct Mention: EventContent, Equatable {
    /// The message that mentions the user.
    public let messageTimetoken: Timetoken
    /// The channel or thread that holds the message.
    public let channelId: String
    /// The thread's channel when the message is in a thread.
    public let parentChannelId: String?
    /// The author of the message; empty when the gateway or an operator sent it.
    public let mentionedByUserId: String

    /// A mention, for example in a test.
    public init(
        messageTimetoken: Timetoken, channelId: String, parentChannelId: String? = nil, mentionedByUserId: String
    ) {
        self.messageTimetoken = messageTimetoken
        self.channelId = channelId
        self.parentChannelId = parentChannelId
        self.mentionedByUserId = mentionedByUserId
    }

    init(_ event: Event, _ data: AnyJSON) {
        let message = data["message"] ?? .null
        messageTimetoken = message.timetoken("timetoken") ?? .zero
        channelId = message.text("channel") ?? event.channel.name
        parentChannelId = message.timetoken("thread_of") == nil ? nil : channelId
        mentionedByUserId = message.text("user") ?? event.user ?? ""
    }
}

/// The read mark of a user: the user has read up to a message.
public struct ReadReceipt: EventContent, Equatable {
    /// The user who has read messages.
    public let userId: String
    /// The newest message that the user has read.
    public let lastReadTimetoken: Timetoken

    /// A receipt, for example in a test.
    public init(userId: String, lastReadTimetoken: Timetoken) {
        self.userId = userId
        self.lastReadTimetoken = lastReadTimetoken
    }

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        lastReadTimetoken = data.timetoken("read_timetoken") ?? .zero
    }
}

/// The invitation of the user to a channel.
public struct Invite: EventContent, Equatable {
    /// The channel that the user is invited to.
    public let channelId: String
    /// The type of the channel.
    public let channelType: ChannelType
    /// The user who invites; empty for an operator.
    public let invitedByUserId: String
    /// The time of the invitation.
    public let invitationTimetoken: Timetoken

    /// An invitation, for example in a test.
    public init(
        channelId: String, channelType: ChannelType, invitedByUserId: String, invitationTimetoken: Timetoken
    ) {
        self.channelId = channelId
        self.channelType = channelType
        self.invitedByUserId = invitedByUserId
        self.invitationTimetoken = invitationTimetoken
    }

    init(_ event: Event, _ data: AnyJSON) {
        channelId = data["channel"]?.text("id") ?? event.channel.name
        channelType = ChannelType(data["channel"]?.text("kind"))
        invitedByUserId = data["inviter"]?.text("id") ?? event.user ?? ""
        invitationTimetoken = event.timetoken
    }
}

/// The mute or ban of a user in a channel, or its end.
public struct Restriction: EventContent, Equatable {
    /// The restricted user.
    public let userId: String
    /// The channel that the restriction applies to.
    public let channelId: String
    /// True when the user may neither read nor write there.
    public let ban: Bool
    /// True when the user may not write there.
    public let mute: Bool
    /// The moderator's reason; for a restriction that has ended, the reason for its end.
    public let reason: String?

    /// A restriction, for example in a test. It has ended when `ban` and `mute` are false.
    public init(userId: String, channelId: String, ban: Bool, mute: Bool, reason: String? = nil) {
        self.userId = userId
        self.channelId = channelId
        self.ban = ban
        self.mute = mute
        self.reason = reason
    }

    init(_ event: Event, _ data: AnyJSON) {
        let restriction = data["restriction"] ?? .null
        userId = restriction.text("user") ?? ""
        channelId = restriction.text("channel") ?? event.channel.name
        ban = restriction.flag("ban")
        mute = restriction.flag("mute")
        // A restriction that has ended names the reason for its end.
        reason = data.text("end_reason") ?? restriction.text("reason")
    }
}

/// The start or end of a user's typing.
public struct Typing: EventContent, Equatable {
    /// The user.
    public let userId: String
    /// True when the user began to type, false when the user stopped.
    public let isTyping: Bool

    /// A change, for example in a test.
    public init(userId: String, isTyping: Bool) {
        self.userId = userId
        self.isTyping = isTyping
    }

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        isTyping = event.type == "typing.started"
    }
}

/// A message that was sent.
public struct TextMessageContent: EventContent, Equatable {
    /// The text; empty when the message has none.
    public let text: String
    /// The whole payload.
    public let content: AnyJSON

    /// A message of a text.
    public init(text: String) { self.init(["text": .string(text)]) }

    init(_ data: AnyJSON) {
        text = data.messageText
        content = data
    }
}

/// The type of a channel.
public enum ChannelType: String, Sendable, CaseIterable {
    case direct, group, `public`, open
    /// The channel has no record.
    case unknown

    init(_ name: String?) { self = name.flatMap { ChannelType(rawValue: $0) } ?? .unknown }
}

extension AnyJSON {
    func text(_ name: String) -> String? { self[name]?.string }

    func timetoken(_ name: String) -> Timetoken? { text(name).flatMap { Timetoken(text: $0) } }

    func flag(_ name: String) -> Bool { self[name] == .boolean(true) }

    /// The text of a message: the member `text`, or the value itself when it is a bare string.
    var messageText: String { text("text") ?? string ?? "" }
}
