import ChatKit
import ChatModel

/// The content of an event of the Chat SDK: one of the classes below.
public class EventContent: @unchecked Sendable {
    // Safe to share: all properties of the subclasses are constants with values.
    fileprivate init() {}

    /// A message that was sent.
    public final class TextMessageContent: EventContent, @unchecked Sendable {
        /// The text; empty when the message has none.
        public let text: String

        /// Creates the content of a message.
        public init(text: String) { self.text = text }
    }

    /// The report of a message.
    public final class Report: EventContent, @unchecked Sendable {
        public let text: String?
        public let reason: String
        public let reportedMessageTimetoken: Timetoken?
        public let reportedMessageChannelId: String?
        public let reportedUserId: String?
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

    /// The start or end of a user's typing.
    public final class Typing: EventContent, @unchecked Sendable {
        /// True when the user began to type, false when the user stopped.
        public let value: Bool

        /// Creates a start or an end.
        public init(value: Bool) { self.value = value }
    }

    /// The read mark of a member.
    public final class Receipt: EventContent, @unchecked Sendable {
        /// The newest message that the member has read.
        public let messageTimetoken: Timetoken

        /// Creates a read mark.
        public init(messageTimetoken: Timetoken) { self.messageTimetoken = messageTimetoken }
    }

    /// The mention of the user in a message.
    public final class Mention: EventContent, @unchecked Sendable {
        public let messageTimetoken: Timetoken
        public let channel: String
        public let parentChannel: String?

        /// Creates a mention.
        public init(messageTimetoken: Timetoken, channel: String, parentChannel: String? = nil) {
            self.messageTimetoken = messageTimetoken
            self.channel = channel
            self.parentChannel = parentChannel
        }
    }

    /// The invitation of the user to a channel.
    public final class Invite: EventContent, @unchecked Sendable {
        public let channelType: ChannelType
        public let channelId: String

        /// Creates an invitation.
        public init(channelType: ChannelType, channelId: String) {
            self.channelType = channelType
            self.channelId = channelId
        }
    }

    /// The mute or ban of a user in a channel, or its end.
    public final class Moderation: EventContent, @unchecked Sendable {
        public let channelId: String
        public let restriction: RestrictionType
        public let reason: String?

        /// Creates a restriction.
        public init(channelId: String, restriction: RestrictionType, reason: String?) {
            self.channelId = channelId
            self.restriction = restriction
            self.reason = reason
        }
    }

    /// A custom event.
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

/// The method by which a custom event of the older Chat SDK is sent.
public enum EmitEventMethod: Sendable { case signal, publish }

/// The kind of a restriction.
public enum RestrictionType: String, Sendable { case ban, mute, lift }

/// An event with its content.
public struct EventWrapper<Content: EventContent>: Sendable {
    /// The event.
    public var event: ChatEvent<Content>
}

/// The time, channel, user and content of an event.
public struct ChatEvent<Content: EventContent>: Sendable {
    public let chat: ChatImpl
    /// The event's position in history, and its time.
    public let timetoken: Timetoken
    /// The content.
    public let payload: Content
    /// The channel's name.
    public let channelId: String
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
}

extension EventContent {
    /// Converts a content of the library. Contents without a class of their own are custom events.
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
