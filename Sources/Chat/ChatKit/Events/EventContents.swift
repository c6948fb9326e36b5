public import ChatModel

/// A message was reported to the moderators of its channel.
public struct Report: EventContent, Equatable {
    public let reason: String
    public let text: String?
    public let messageTimetoken: Timetoken?
    public let reportedMessageChannelId: String?
    public let reportedUserId: String?
    /// The rule, when one reported by itself.
    public let autoModerationId: String?

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

/// A message mentions the user.
public struct Mention: EventContent, Equatable {
    public let messageTimetoken: Timetoken
    /// Where the message is: a channel or a thread.
    public let channelId: String
    /// The channel of the thread, when it is in one.
    public let parentChannelId: String?
    public let mentionedByUserId: String

    init(_ event: Event, _ data: AnyJSON) {
        let message = data["message"] ?? .null
        messageTimetoken = message.timetoken("timetoken") ?? .zero
        channelId = message.text("channel") ?? event.channel.name
        parentChannelId = message.timetoken("thread_of") == nil ? nil : channelId
        mentionedByUserId = message.text("user") ?? event.user ?? ""
    }
}

/// A user has read up to a message.
public struct ReadReceipt: EventContent, Equatable {
    public let userId: String
    public let lastReadTimetoken: Timetoken

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        lastReadTimetoken = data.timetoken("read_timetoken") ?? .zero
    }
}

/// The user was invited to a channel.
public struct Invite: EventContent, Equatable {
    public let channelId: String
    public let channelType: ChannelType
    public let invitedByUserId: String
    public let invitationTimetoken: Timetoken

    init(_ event: Event, _ data: AnyJSON) {
        channelId = data["channel"]?.text("id") ?? event.channel.name
        channelType = ChannelType(data["channel"]?.text("kind"))
        invitedByUserId = data["inviter"]?.text("id") ?? event.user ?? ""
        invitationTimetoken = event.timetoken
    }
}

/// A user was muted or banned in a channel, or is no longer.
public struct Restriction: EventContent, Equatable {
    public let userId: String
    public let channelId: String
    public let ban: Bool
    public let mute: Bool
    public let reason: String?

    init(_ event: Event, _ data: AnyJSON) {
        let restriction = data["restriction"] ?? .null
        userId = restriction.text("user") ?? ""
        channelId = restriction.text("channel") ?? event.channel.name
        ban = restriction.flag("ban")
        mute = restriction.flag("mute")
        // Of one that has ended, why it ended.
        reason = data.text("end_reason") ?? restriction.text("reason")
    }
}

/// A user began to type, or stopped.
public struct Typing: EventContent, Equatable {
    public let userId: String
    public let isTyping: Bool

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        isTyping = event.type == "typing.started"
    }
}

/// A message was sent.
public struct TextMessageContent: EventContent, Equatable {
    /// Empty when the message is no text.
    public let text: String
    /// All of what was sent.
    public let content: AnyJSON

    init(_ data: AnyJSON) {
        text = data.messageText
        content = data
    }
}

/// What a channel is.
public enum ChannelType: String, Sendable, CaseIterable {
    case direct, group, `public`, open
    /// It has no record.
    case unknown

    init(_ name: String?) { self = name.flatMap { ChannelType(rawValue: $0) } ?? .unknown }
}

extension AnyJSON {
    func text(_ name: String) -> String? { self[name]?.string }

    func timetoken(_ name: String) -> Timetoken? { text(name).flatMap { Timetoken(text: $0) } }

    func flag(_ name: String) -> Bool { self[name] == .boolean(true) }

    /// The text of a message: its member `text`, or itself when it is a bare string.
    var messageText: String { text("text") ?? string ?? "" }
}
