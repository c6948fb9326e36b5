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
    /// Metadata of the message that filters can read.
    public var meta: [String: any JSONCodable]?
    /// True when history stores the message.
    public var shouldStore: Bool
    /// Accepted; every message is sent by POST.
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

/// A quoted message as it was when it was quoted.
public struct QuotedMessage: Hashable, Sendable {
    public var timetoken: Timetoken
    public var text: String
    public var userId: String

    /// Creates a quoted message, for example in a test.
    public init(timetoken: Timetoken, text: String, userId: String) {
        self.timetoken = timetoken
        self.text = text
        self.userId = userId
    }
}

/// A reaction to a message with the users who reacted.
public struct MessageReaction: Hashable, Sendable {
    /// The reaction: a key or an emoji.
    public let value: String
    /// True when the chat's user is among the users.
    public let isMine: Bool
    /// The ids of the users, in the order in which they reacted.
    public let userIds: [String]
    /// The number of users.
    public var count: Int { userIds.count }
}

/// The user and the time of an action of a message.
public struct Action: Hashable, Sendable {
    /// The id of the user.
    public var uuid: String
    /// The action's own timetoken.
    public var actionTimetoken: Timetoken

    /// Creates an action, for example in a test.
    public init(uuid: String, actionTimetoken: Timetoken) {
        self.uuid = uuid
        self.actionTimetoken = actionTimetoken
    }
}

/// The result of ``ChatImpl/createDirectConversation(invitedUser:channelId:channelName:channelDescription:channelCustom:channelStatus:membershipCustom:completion:)``.
public struct CreateDirectConversationResult: Sendable {
    public var channel: ChannelImpl
    public var hostMembership: MembershipImpl
    public var inviteeMembership: MembershipImpl
}

/// The result of ``ChatImpl/createGroupConversation(invitedUsers:channelId:channelName:channelDescription:channelCustom:channelStatus:membershipCustom:completion:)``.
public struct CreateGroupConversationResult: Sendable {
    public var channel: ChannelImpl
    public var hostMembership: MembershipImpl
    public var inviteeMemberships: [MembershipImpl]
}

/// A new thread with the message that it belongs to.
public struct CreateThreadResult: Sendable {
    public var threadChannel: ThreadChannelImpl
    public var parentMessage: MessageImpl
}

/// The number of messages of a channel that the user has not read.
public struct GetUnreadMessagesCount: Sendable {
    public var channel: ChannelImpl
    public var membership: MembershipImpl
    public var count: UInt64
}

extension [String: any JSONCodable] {
    /// The members as values of the library.
    ///
    /// - Throws: ``PubNubError`` for a value that cannot be encoded.
    func encoded() throws -> [String: any ChatKit.JSONCodable] { try mapValues { try $0.encoded() } }
}

extension [String: any JSONCodableScalar] {
    /// The fields as values of the library.
    var values: [String: any ChatKit.JSONCodable] { mapValues { $0.scalarValue.value } }
}

extension [String: any ChatKit.JSONCodable] {
    /// The fields of a record as scalars.
    var scalars: [String: any JSONCodableScalar] { mapValues { JSONCodableScalarType($0.json) } }

    /// The members as JSON text.
    var text: JSONText { ChatKit.AnyJSON.object(mapValues(\.json)).text }

    /// The members as values of any kind.
    var members: [String: any JSONCodable] { mapValues { AnyJSON($0.json) } }
}

extension ChatModel.Timetoken {
    /// The time in the format of RFC 3339; nil for zero, the time of a record that does not exist.
    var timeText: String? {
        self == .zero ? nil : date.ISO8601Format(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
