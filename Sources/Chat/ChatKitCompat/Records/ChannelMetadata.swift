import ChatKit
import ChatModel
public import FoundationEssentials

/// The record of a channel.
public protocol PubNubChannelMetadata {
    /// The channel's id.
    var metadataId: String { get }
    /// The name.
    var name: String? { get set }
    /// A type of the app's own.
    var type: String? { get set }
    /// A status of the app's own.
    var status: String? { get set }
    /// The description.
    var channelDescription: String? { get set }
    /// The time of the last change.
    var updated: Date? { get set }
    /// The version of the record.
    var eTag: String? { get set }
    /// Fields of the app's own.
    var custom: [String: any JSONCodableScalar]? { get set }
}

/// The record of a channel, as a value.
public struct PubNubChannelMetadataBase: PubNubChannelMetadata, Hashable, Sendable {
    public let metadataId: String
    public var name: String?
    public var type: String?
    public var status: String?
    public var channelDescription: String?
    public var updated: Date?
    public var eTag: String?
    private var scalars: [String: JSONCodableScalarType]?

    public var custom: [String: any JSONCodableScalar]? {
        get { scalars }
        set { scalars = newValue?.mapValues(\.scalarValue) }
    }

    /// Creates a record. A nil field is left as it is when the record is set.
    public init(
        metadataId: String = UUID().uuidString, name: String? = nil, type: String? = nil, status: String? = nil,
        channelDescription: String? = nil, custom: [String: any JSONCodableScalar]? = nil, updated: Date? = nil,
        eTag: String? = nil
    ) {
        self.metadataId = metadataId
        self.name = name
        self.type = type
        self.status = status
        self.channelDescription = channelDescription
        scalars = custom?.mapValues(\.scalarValue)
        self.updated = updated
        self.eTag = eTag
    }

    init(_ record: ChannelRecord) {
        self.init(
            metadataId: record.id, name: record.name, type: record.type, status: record.status,
            channelDescription: record.description, custom: [String: JSONCodableScalarType](custom: record.custom),
            updated: record.updated.date, eTag: record.etag)
    }
}

extension ChannelFields {
    init(_ metadata: any PubNubChannelMetadata) {
        self.init()
        name = metadata.name
        description = metadata.channelDescription
        custom = metadata.custom?.mapValues(\.scalarValue).object
        status = metadata.status
        type = metadata.type
    }
}
