public import ChatModel

/// The report of a message to the moderators of its channel.
public struct Report: EventContent, Equatable {
    public let reason: String
    public let text: String?
    public let messageTimetoken: Timetoken?
    public let reportedMessageChannelId: String?
    public let reportedUserId: String?
    /// The rule that made the report; nil when a user made it.
    public let autoModerationId: String?

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
    public let messageTimetoken: Timetoken
    /// The channel or thread that holds the message.
    public let channelId: String
    /// The thread's channel when the message is in a thread.
    public let parentChannelId: String?
    public let mentionedByUserId: String

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
    public let userId: String
    public let lastReadTimetoken: Timetoken

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
    public let channelId: String
    public let channelType: ChannelType
    public let invitedByUserId: String
    public let invitationTimetoken: Timetoken

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
    public let userId: String
    public let channelId: String
    public let ban: Bool
    public let mute: Bool
    public let reason: String?

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
    public let userId: String
    public let isTyping: Bool

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
