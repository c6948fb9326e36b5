import ChatKit
import ChatModel
public import FoundationEssentials

/// The record of a channel.
public protocol PubNubChannelMetadata {
    /// The name of the channel.
    var metadataId: String { get }
    /// The name for display; nil for none.
    var name: String? { get set }
    /// A type that the app defines, as free text; nil for none.
    var type: String? { get set }
    /// A status that the app defines, as free text; nil for none.
    var status: String? { get set }
    /// The description for display; nil for none.
    var channelDescription: String? { get set }
    /// The time of the last change; nil when it is not known.
    var updated: Date? { get set }
    /// The version of the record; nil when it is not known.
    var eTag: String? { get set }
    /// The app's own fields; nil for none.
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

    /// Creates a record. When the record is set, its nil fields do not change the stored record.
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
