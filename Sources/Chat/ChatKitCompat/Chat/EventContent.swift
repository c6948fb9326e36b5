import ChatKit
import ChatModel

/// The content of an event of PubNub's Chat SDK. Each kind of content is a subclass.
public class EventContent: @unchecked Sendable {
    // Safe to share: all properties of the subclasses are constants with values.
    fileprivate init() {}

    /// The content of a sent message.
    public final class TextMessageContent: EventContent, @unchecked Sendable {
        /// The text; empty when the message has none.
        public let text: String

        /// Creates the content of a message.
        public init(text: String) { self.text = text }
    }

    /// A report of a message to the moderators of its channel.
    public final class Report: EventContent, @unchecked Sendable {
        /// The text of the reported message; nil when it has none.
        public let text: String?
        /// The reason that the reporting user gave, as free text.
        public let reason: String
        /// The timetoken of the reported message, which is its id in its channel; nil when the report names no message.
        public let reportedMessageTimetoken: Timetoken?
        /// The name of the channel of the reported message; nil when the report names no message.
        public let reportedMessageChannelId: String?
        /// The id of the author of the reported message; nil when the report names no author.
        public let reportedUserId: String?
        /// The id of the rule that created the report; nil when a user reported the message.
        public let autoModerationId: String?

        /// Creates a report.
        public init(
            text: String? = nil, reason: String, reportedMessageTimetoken: Timetoken? = nil,
            reportedMessageChannelId: String? = nil, reportedUserId: String? = nil, autoModerationId: String? = nil
        ) {
            self.text = text
            self.reason = reason
            self.reportedMessageTimetoken = reportedMessageTimetoken
            self.reportedMessageChannelId = reportedMessageChannelId
            self.reportedUserId = reportedUserId
            self.autoModerationId = autoModerationId
        }
    }

    /// The event that a user began or stopped typing.
    public final class Typing: EventContent, @unchecked Sendable {
        /// True when the user began to type, false when the user stopped.
        public let value: Bool

        /// Creates the event that a user began (true) or stopped (false) typing.
        public init(value: Bool) { self.value = value }
    }

    /// A member's read mark, which is the newest message that the member has read.
    public final class Receipt: EventContent, @unchecked Sendable {
        /// The timetoken of the newest message that the member has read.
        public let messageTimetoken: Timetoken

        /// Creates a read mark.
        public init(messageTimetoken: Timetoken) { self.messageTimetoken = messageTimetoken }
    }

    /// A mention of the user in a message.
    public final class Mention: EventContent, @unchecked Sendable {
        /// The timetoken of the message that mentions the user.
        public let messageTimetoken: Timetoken
        /// The name of the channel that contains the message.
        public let channel: String
        /// The name of the channel to which the message's thread belongs; nil when the message is not in a thread.
        public let parentChannel: String?

        /// Creates a mention.
        public init(messageTimetoken: Timetoken, channel: String, parentChannel: String? = nil) {
            self.messageTimetoken = messageTimetoken
            self.channel = channel
            self.parentChannel = parentChannel
        }
    }

    /// An invitation of the user to a channel.
    public final class Invite: EventContent, @unchecked Sendable {
        /// The kind of the channel.
        public let channelType: ChannelType
        /// The name of the channel that the user is invited to.
        public let channelId: String

        /// Creates an invitation.
        public init(channelType: ChannelType, channelId: String) {
            self.channelType = channelType
            self.channelId = channelId
        }
    }

    /// A mute or ban of a user in a channel, or the end of a mute or ban.
    public final class Moderation: EventContent, @unchecked Sendable {
        /// The name of the channel that the restriction applies to.
        public let channelId: String
        /// The kind of the restriction.
        public let restriction: RestrictionType
        /// The moderator's reason; nil for none.
        public let reason: String?

        /// Creates a restriction.
        public init(channelId: String, restriction: RestrictionType, reason: String?) {
            self.channelId = channelId
            self.restriction = restriction
            self.reason = reason
        }
    }

    /// An event with a payload that the app defines.
    public final class Custom: EventContent, @unchecked Sendable {
        /// The members of the payload as plain Swift values.
        public let data: [String: Any]
        /// The method by which the event is sent.
        public let method: EmitEventMethod

        /// Creates a custom event.
        public init(data: [String: Any], method: EmitEventMethod = .publish) {
            self.data = data
            self.method = method
        }
    }
}

/// The way in which the older Chat SDKs send a custom event: as a signal or as a published message.
public enum EmitEventMethod: Sendable { case signal, publish }

/// The kind of a restriction: a ban, a mute, or the end of either (`lift`).
public enum RestrictionType: String, Sendable { case ban, mute, lift }

/// An event, in the form in which PubNub's SDK passes it to closures.
public struct EventWrapper<Content: EventContent>: Sendable {
    /// The event.
    public var event: ChatEvent<Content>
}

/// An event: its time, channel, user and content.
public struct ChatEvent<Content: EventContent>: Sendable {
    /// The chat that received the event.
    public let chat: ChatImpl
    /// The event's time, which is also its position in history.
    public let timetoken: Timetoken
    /// The content.
    public let payload: Content
    /// The name of the channel on which the event occurred.
    public let channelId: String
    /// The id of the user who caused the event; empty when the gateway or an API key without a user did.
    public let userId: String
}

extension EventContent {
    /// Converts a ChatKit content. A content that has no subclass here becomes a ``Custom`` content.
    static func of(_ content: any ChatKit.EventContent) -> EventContent {
        switch content {
        case let message as ChatKit.TextMessageContent: TextMessageContent(text: message.text)
        case let report as ChatKit.Report:
            Report(
                text: report.text, reason: report.reason, reportedMessageTimetoken: report.messageTimetoken?.rawValue,
                reportedMessageChannelId: report.reportedMessageChannelId, reportedUserId: report.reportedUserId,
                autoModerationId: report.autoModerationId)
        case let typing as ChatKit.Typing: Typing(value: typing.isTyping)
        case let receipt as ChatKit.ReadReceipt: Receipt(messageTimetoken: receipt.lastReadTimetoken.rawValue)
        case let mention as ChatKit.Mention:
            Mention(
                messageTimetoken: mention.messageTimetoken.rawValue, channel: mention.channelId,
                parentChannel: mention.parentChannelId)
        case let invite as ChatKit.Invite:
            Invite(channelType: ChannelType(invite.channelType), channelId: invite.channelId)
        case let restriction as ChatKit.Restriction:
            Moderation(
                channelId: restriction.channelId,
                restriction: restriction.ban ? .ban : restriction.mute ? .mute : .lift, reason: restriction.reason)
        case let event as ChatKit.CustomEvent: Custom(data: event.payload.plain)
        default: Custom(data: [:])
        }
    }
}

extension [String: any ChatKit.JSONCodable] {
    /// The members as plain Swift values.
    var plain: [String: Any] { mapValues { $0.json.plainValue as Any } }
}
