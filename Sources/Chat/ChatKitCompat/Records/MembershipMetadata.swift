import ChatKit
import ChatModel
public import FoundationEssentials

/// The membership of a user in a channel.
public protocol PubNubMembershipMetadata {
    /// The id of the user.
    var userMetadataId: String { get }
    /// The name of the channel.
    var channelMetadataId: String { get }
    /// A status that the app defines, as free text; nil for none.
    var status: String? { get set }
    /// A type that the app defines, as free text; nil for none.
    var type: String? { get set }
    /// The record of the user; nil unless it was requested.
    var user: (any PubNubUserMetadata)? { get set }
    /// The record of the channel; nil unless it was requested.
    var channel: (any PubNubChannelMetadata)? { get set }
    /// The time of the last change; nil when it is not known.
    var updated: Date? { get set }
    /// The version of the record; nil when it is not known.
    var eTag: String? { get set }
    /// The app's own fields; nil for none.
    var custom: [String: any JSONCodableScalar]? { get set }
}

extension PubNubMembershipMetadata {
    /// The id of the user.
    @available(*, deprecated, renamed: "userMetadataId")
    public var uuidMetadataId: String { userMetadataId }
}

/// The membership of a user in a channel, as a value.
public struct PubNubMembershipMetadataBase: PubNubMembershipMetadata {
    public let userMetadataId: String
    public let channelMetadataId: String
    public var status: String?
    public var type: String?
    public var user: (any PubNubUserMetadata)?
    public var channel: (any PubNubChannelMetadata)?
    public var updated: Date?
    public var eTag: String?
    public var custom: [String: any JSONCodableScalar]?

    /// Creates a membership. When the membership is set, its nil fields do not change the stored membership.
    public init(
        userMetadataId: String, channelMetadataId: String, status: String? = nil, type: String? = nil,
        user: PubNubUserMetadataBase? = nil, channel: PubNubChannelMetadataBase? = nil,
        custom: [String: any JSONCodableScalar]? = nil, updated: Date? = nil, eTag: String? = nil
    ) {
        self.userMetadataId = userMetadataId
        self.channelMetadataId = channelMetadataId
        self.status = status
        self.type = type
        self.user = user
        self.channel = channel
        self.custom = custom
        self.updated = updated
        self.eTag = eTag
    }

    init(_ record: MembershipRecord) {
        self.init(
            userMetadataId: record.user, channelMetadataId: record.channel, status: record.status, type: record.type,
            custom: [String: JSONCodableScalarType](custom: record.custom), updated: record.updated.date,
            eTag: record.etag)
    }

    init(_ membership: Membership) {
        self.init(
            userMetadataId: membership.userId, channelMetadataId: membership.channelId, status: membership.status,
            type: membership.type, custom: membership.custom.mapValues { JSONCodableScalarType($0.json) },
            updated: membership.updated.date, eTag: membership.eTag)
    }
}

extension MembershipFields {
    init(_ metadata: any PubNubMembershipMetadata) {
        self.init()
        custom = metadata.custom?.mapValues(\.scalarValue).object
        status = metadata.status
        type = metadata.type
    }
}
