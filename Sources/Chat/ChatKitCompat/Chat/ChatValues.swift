import ChatKit
import ChatModel
import FoundationEssentials
import JSON

/// The kind of a channel.
public enum ChannelType: String, CaseIterable, Sendable {
    case direct, group, `public`
    /// The channel has no record, or is an open channel.
    case unknown

    init(_ type: ChatKit.ChannelType) { self = ChannelType(rawValue: type.rawValue) ?? .unknown }
}

/// The options of ``ChannelImpl/sendText(text:params:completion:)``.
public struct SendTextParams {
    /// The metadata of the message, which filters can read; nil for none.
    public var meta: [String: any JSONCodable]?
    /// True when history stores the message.
    public var shouldStore: Bool
    /// Has no effect. Every message is sent by POST.
    public var usePost: Bool
    /// The number of hours for which the message is stored; nil or 0 selects the app's retention.
    public var ttl: Int?

    /// Creates options.
    public init(
        meta: [String: any JSONCodable]? = nil, shouldStore: Bool = true, usePost: Bool = false, ttl: Int? = nil
    ) {
        self.meta = meta
        self.shouldStore = shouldStore
        self.usePost = usePost
        self.ttl = ttl
    }
}

/// A quoted message, with its values when it was quoted.
public struct QuotedMessage: Hashable, Sendable {
    /// The id of the quoted message in its channel, which is also the time at which it was sent.
    public var timetoken: Timetoken
    /// The text of the quoted message.
    public var text: String
    /// The id of the author of the quoted message.
    public var userId: String

    /// Creates a quoted message, for example in a test.
    public init(timetoken: Timetoken, text: String, userId: String) {
        self.timetoken = timetoken
        self.text = text
        self.userId = userId
    }
}

/// A reaction value of a message, and the users who reacted with this value.
public struct MessageReaction: Hashable, Sendable {
    /// The value of the reaction, such as an emoji.
    public let value: String
    /// True when the chat's user has reacted with this value.
    public let isMine: Bool
    /// The ids of the users who reacted with this value, in the order of their reactions.
    public let userIds: [String]
    /// The number of users who reacted with this value.
    public var count: Int { userIds.count }
}

/// A message action without its type and value.
public struct Action: Hashable, Sendable {
    /// The id of the user who added the action.
    public var uuid: String
    /// The time at which the action was added, which is also the action's id.
    public var actionTimetoken: Timetoken

    /// Creates an action, for example in a test.
    public init(uuid: String, actionTimetoken: Timetoken) {
        self.uuid = uuid
        self.actionTimetoken = actionTimetoken
    }
}

/// The result of ``ChatImpl/createDirectConversation(invitedUser:channelId:channelName:channelDescription:channelCustom:channelStatus:membershipCustom:completion:)``.
public struct CreateDirectConversationResult: Sendable {
    /// The channel of the conversation.
    public var channel: ChannelImpl
    /// The membership of the chat's user.
    public var hostMembership: MembershipImpl
    /// The membership of the invited user.
    public var inviteeMembership: MembershipImpl
}

/// The result of ``ChatImpl/createGroupConversation(invitedUsers:channelId:channelName:channelDescription:channelCustom:channelStatus:membershipCustom:completion:)``.
public struct CreateGroupConversationResult: Sendable {
    /// The channel of the conversation.
    public var channel: ChannelImpl
    /// The membership of the chat's user.
    public var hostMembership: MembershipImpl
    /// The memberships of the invited users. Users who have already left are left out.
    public var inviteeMemberships: [MembershipImpl]
}

/// The result of ``MessageImpl/createThread(text:params:)``.
public struct CreateThreadResult: Sendable {
    /// The new thread.
    public var threadChannel: ThreadChannelImpl
    /// The parent message of the thread, as it is after the reply.
    public var parentMessage: MessageImpl
}

/// The number of unread messages of a membership.
public struct GetUnreadMessagesCount: Sendable {
    /// The channel.
    public var channel: ChannelImpl
    /// The membership of the chat's user in the channel.
    public var membership: MembershipImpl
    /// The number of messages of other users that the chat's user has not read in the channel.
    public var count: UInt64
}

extension [String: any JSONCodable] {
    /// Returns the members as ChatKit values.
    ///
    /// - Throws: ``PubNubError`` with the reason `jsonDataEncodingFailure` for a value that cannot be encoded.
    func encoded() throws -> [String: any ChatKit.JSONCodable] { try mapValues { try $0.encoded() } }
}

extension [String: any JSONCodableScalar] {
    /// The fields as ChatKit values.
    var values: [String: any ChatKit.JSONCodable] { mapValues { $0.scalarValue.value } }
}

extension [String: any ChatKit.JSONCodable] {
    /// The fields of a record as scalar values.
    var scalars: [String: any JSONCodableScalar] { mapValues { JSONCodableScalarType($0.json) } }

    /// The members as JSON text.
    var text: JSONText { ChatKit.AnyJSON.object(mapValues(\.json)).text }

    /// The members as values of any JSON type.
    var members: [String: any JSONCodable] { mapValues { AnyJSON($0.json) } }
}

extension ChatModel.Timetoken {
    /// The time in the format of RFC 3339; nil for zero, which is the time of a missing record.
    var timeText: String? {
        self == .zero ? nil : date.ISO8601Format(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
