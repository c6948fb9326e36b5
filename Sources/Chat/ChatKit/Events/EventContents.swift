public import ChatModel

/// A report of a message to the moderators of its channel.
public struct Report: EventContent, Equatable {
    /// The reason that the reporting user gave, as free text.
    public let reason: String
    /// The text of the reported message; nil when it has none.
    public let text: String?
    /// The timetoken of the reported message; nil when the report names no message.
    public let messageTimetoken: Timetoken?
    /// The name of the channel of the reported message; nil when the report names no message.
    public let reportedMessageChannelId: String?
    /// The id of the author of the reported message; nil when the report names no author.
    public let reportedUserId: String?
    /// The id of the rule that created the report; nil when a user reported the message.
    public let autoModerationId: String?

    /// Creates a report, for example in a test.
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

/// A mention of the chat's user in a message.
public struct Mention: EventContent, Equatable {
    /// The timetoken of the message that mentions the user.
    public let messageTimetoken: Timetoken
    /// The name of the channel that contains the message.
    public let channelId: String
    /// The name of the channel to which the message's thread belongs; nil when the message is not in a thread.
    public let parentChannelId: String?
    /// The id of the message's author; empty when the gateway or an API key without a user sent the message.
    public let mentionedByUserId: String

    /// Creates a mention, for example in a test.
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

/// The event that a user's read mark has moved to a newer message.
public struct ReadReceipt: EventContent, Equatable {
    /// The id of the user who has read messages.
    public let userId: String
    /// The timetoken of the newest message that the user has read.
    public let lastReadTimetoken: Timetoken

    /// Creates a receipt, for example in a test.
    public init(userId: String, lastReadTimetoken: Timetoken) {
        self.userId = userId
        self.lastReadTimetoken = lastReadTimetoken
    }

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        lastReadTimetoken = data.timetoken("read_timetoken") ?? .zero
    }
}

/// An invitation of a user to a channel.
public struct Invite: EventContent, Equatable {
    /// The channel that the user is invited to.
    public let channelId: String
    /// The type of the channel.
    public let channelType: ChannelType
    /// The id of the user who invites; empty when an API key invites.
    public let invitedByUserId: String
    /// The time of the invitation.
    public let invitationTimetoken: Timetoken

    /// Creates an invitation, for example in a test.
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

/// A mute or ban of a user in a channel, or the end of a mute or ban.
public struct Restriction: EventContent, Equatable {
    /// The id of the restricted user.
    public let userId: String
    /// The channel that the restriction applies to.
    public let channelId: String
    /// True when the user may neither read nor write in the channel.
    public let ban: Bool
    /// True when the user may not write in the channel.
    public let mute: Bool
    /// The moderator's reason; for a restriction that has ended, the reason for its end.
    public let reason: String?

    /// Creates a restriction, for example in a test. When `ban` and `mute` are both false, the restriction has ended.
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
        // The event about the end of a restriction contains the reason for the end.
        reason = data.text("end_reason") ?? restriction.text("reason")
    }
}

/// The event that a user began or stopped typing.
public struct Typing: EventContent, Equatable {
    /// The user's id.
    public let userId: String
    /// True when the user began to type, false when the user stopped.
    public let isTyping: Bool

    /// Creates an event, for example in a test.
    public init(userId: String, isTyping: Bool) {
        self.userId = userId
        self.isTyping = isTyping
    }

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        isTyping = event.type == "typing.started"
    }
}

/// A sent message.
public struct TextMessageContent: EventContent, Equatable {
    /// The text; empty when the message has none.
    public let text: String
    /// The whole payload.
    public let content: AnyJSON

    /// Creates the content of a message with a text.
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

    /// The text of a message's payload: the member `text`, or the payload itself when it is a string. Empty for other
    /// payloads.
    var messageText: String { text("text") ?? string ?? "" }
}
