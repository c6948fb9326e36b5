import ChatKit
import ChatModel

/// An event whose type is one of the app's own types.
public struct CustomEvent {
    /// The event's time, which is also its position in history.
    public let timetoken: Timetoken
    /// The id of the user who caused the event; empty when the gateway or an API key without a user did.
    public let userId: String
    /// The type; nil when the event was sent without a type.
    public let type: String?
    /// The members of the payload.
    public let payload: [String: any JSONCodable]
}

/// A mention of the user in a message.
public struct Mention: Hashable, Sendable {
    /// The timetoken of the message that mentions the user. It is the message's id in its channel and the time at which
    /// the message was sent.
    public let messageTimetoken: Timetoken
    /// The name of the channel that contains the message.
    public let channelId: String
    /// The name of the channel to which the message's thread belongs; nil when the message is not in a thread.
    public let parentChannelId: String?
    /// The id of the message's author; empty when the gateway or an API key without a user sent the message.
    public let mentionedByUserId: String
}

/// An invitation of the user to a channel.
public struct Invite: Hashable, Sendable {
    /// The name of the channel.
    public let channelId: String
    /// The kind of the channel.
    public let channelType: ChannelType
    /// The id of the user who invites; empty when an API key without a user invites.
    public let invitedByUserId: String
    /// The time of the invitation.
    public let invitationTimetoken: Timetoken
}

/// A member's read mark, which is the newest message that the member has read.
public struct ReadReceipt: Hashable, Sendable {
    /// The id of the member.
    public let userId: String
    /// The timetoken of the newest message that the member has read.
    public let lastReadTimetoken: Timetoken
}

/// A report of a message to the moderators of its channel.
public struct Report: Hashable, Sendable {
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
}

/// A mute or ban of a user in a channel, or the end of a mute or ban.
public struct Restriction: Hashable, Sendable {
    /// The id of the restricted user.
    public let userId: String
    /// The name of the channel that the restriction applies to.
    public let channelId: String
    /// True when the user may neither read nor write in the channel.
    public let ban: Bool
    /// True when the user may not write in the channel.
    public let mute: Bool
    /// The moderator's reason, or nil for none. For a restriction that has ended, this is the reason for its end.
    public let reason: String?
}

extension CustomEvent: @unchecked Sendable {
    // Safe to share: the payload's values are of the type AnyJSON, which is Sendable.

    init(_ event: ChatKit.CustomEvent) {
        self.init(
            timetoken: event.timetoken.rawValue, userId: event.userId, type: event.type, payload: event.payload.members)
    }
}

extension Mention {
    init(_ mention: ChatKit.Mention) {
        self.init(
            messageTimetoken: mention.messageTimetoken.rawValue, channelId: mention.channelId,
            parentChannelId: mention.parentChannelId, mentionedByUserId: mention.mentionedByUserId)
    }
}

extension Invite {
    init(_ invite: ChatKit.Invite) {
        self.init(
            channelId: invite.channelId, channelType: ChannelType(invite.channelType),
            invitedByUserId: invite.invitedByUserId, invitationTimetoken: invite.invitationTimetoken.rawValue)
    }
}

extension ReadReceipt {
    init(_ receipt: ChatKit.ReadReceipt) {
        self.init(userId: receipt.userId, lastReadTimetoken: receipt.lastReadTimetoken.rawValue)
    }
}

extension Report {
    init(_ report: ChatKit.Report) {
        self.init(
            reason: report.reason, text: report.text, messageTimetoken: report.messageTimetoken?.rawValue,
            reportedMessageChannelId: report.reportedMessageChannelId, reportedUserId: report.reportedUserId,
            autoModerationId: report.autoModerationId)
    }
}

extension Restriction {
    init(_ restriction: ChatKit.Restriction) {
        self.init(
            userId: restriction.userId, channelId: restriction.channelId, ban: restriction.ban, mute: restriction.mute,
            reason: restriction.reason)
    }

    init(_ record: RestrictionRecord) {
        self.init(
            userId: record.user, channelId: record.channel, ban: record.isBanned, mute: record.isMuted,
            reason: record.reason)
    }
}
