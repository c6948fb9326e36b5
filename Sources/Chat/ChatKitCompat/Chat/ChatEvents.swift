import ChatKit
import ChatModel

/// An event of the app's own type.
public struct CustomEvent {
    /// The event's position in history, and its time.
    public let timetoken: Timetoken
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
    /// The type; nil when the event was sent without one.
    public let type: String?
    /// The members of the payload.
    public let payload: [String: any JSONCodable]
}

/// The mention of the user in a message.
public struct Mention: Hashable, Sendable {
    /// The message that mentions the user.
    public let messageTimetoken: Timetoken
    /// The channel or thread that contains the message.
    public let channelId: String
    /// The thread's channel when the message is in a thread.
    public let parentChannelId: String?
    /// The author of the message; empty when the gateway or an operator sent it.
    public let mentionedByUserId: String
}

/// The invitation of the user to a channel.
public struct Invite: Hashable, Sendable {
    /// The channel.
    public let channelId: String
    /// The kind of the channel.
    public let channelType: ChannelType
    /// The user who invited; empty for the gateway.
    public let invitedByUserId: String
    /// The time of the invitation.
    public let invitationTimetoken: Timetoken
}

/// The read mark of a member.
public struct ReadReceipt: Hashable, Sendable {
    /// The member.
    public let userId: String
    /// The newest message that the member has read.
    public let lastReadTimetoken: Timetoken
}

/// The report of a message to the moderators of its channel.
public struct Report: Hashable, Sendable {
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
}

/// The mute or ban of a user in a channel, or its end.
public struct Restriction: Hashable, Sendable {
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
