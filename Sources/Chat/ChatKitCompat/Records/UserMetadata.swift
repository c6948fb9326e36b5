import ChatKit
import ChatModel
public import FoundationEssentials

/// The record of a user.
public protocol PubNubUserMetadata {
    /// The user's id.
    var metadataId: String { get }
    /// The name.
    var name: String? { get set }
    /// A type of the app's own.
    var type: String? { get set }
    /// A status of the app's own.
    var status: String? { get set }
    /// The user's id in another system.
    var externalId: String? { get set }
    /// The address of the user's picture.
    var profileURL: String? { get set }
    /// The email address.
    var email: String? { get set }
    /// The time of the last change.
    var updated: Date? { get set }
    /// The version of the record.
    var eTag: String? { get set }
    /// Fields of the app's own.
    var custom: [String: any JSONCodableScalar]? { get set }
}

/// The record of a user, as a value.
public struct PubNubUserMetadataBase: PubNubUserMetadata, Hashable, Sendable {
    public let metadataId: String
    public var name: String?
    public var type: String?
    public var status: String?
    public var externalId: String?
    public var profileURL: String?
    public var email: String?
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
        externalId: String? = nil, profileURL: String? = nil, email: String? = nil,
        custom: [String: any JSONCodableScalar]? = nil, updated: Date? = nil, eTag: String? = nil
    ) {
        self.metadataId = metadataId
        self.name = name
        self.type = type
        self.status = status
        self.externalId = externalId
        self.profileURL = profileURL
        self.email = email
        scalars = custom?.mapValues(\.scalarValue)
        self.updated = updated
        self.eTag = eTag
    }

    init(_ record: UserRecord) {
        self.init(
            metadataId: record.id, name: record.name, type: record.type, status: record.status,
            externalId: record.externalID, profileURL: record.profileURL, email: record.email,
            custom: [String: JSONCodableScalarType](custom: record.custom), updated: record.updated.date,
            eTag: record.etag)
    }
}

extension UserFields {
    init(_ metadata: any PubNubUserMetadata) {
        self.init()
        name = metadata.name
        externalID = metadata.externalId
        profileURL = metadata.profileURL
        email = metadata.email
        custom = metadata.custom?.mapValues(\.scalarValue).object
        status = metadata.status
        type = metadata.type
    }
}
