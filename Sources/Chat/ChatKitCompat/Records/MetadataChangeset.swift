import ChatKit
import ChatModel
public import FoundationEssentials

/// The change of one field of a record.
public enum PubNubMetadataChange<MetadataType> {
    /// The field and its new value; nil when it was removed.
    case stringOptional(WritableKeyPath<MetadataType, String?>, String?)
    /// The field and its new value; nil when it was removed.
    case customOptional(
        WritableKeyPath<MetadataType, [String: any JSONCodableScalar]?>, [String: any JSONCodableScalar]?)

    /// Returns a record with the change.
    func applied(to record: MetadataType) -> MetadataType {
        var record = record
        switch self {
        case .stringOptional(let field, let value): record[keyPath: field] = value
        case .customOptional(let field, let value): record[keyPath: field] = value
        }
        return record
    }

    /// Creates the changes of the fields that an event has set.
    ///
    /// - Parameters:
    ///   - fields: the new values by the names in the event.
    ///   - texts: the fields with texts, by these names.
    ///   - custom: the fields of the app's own.
    static func changes(
        of fields: [String: ChatKit.AnyJSON?], _ texts: [String: WritableKeyPath<MetadataType, String?>],
        _ custom: WritableKeyPath<MetadataType, [String: any JSONCodableScalar]?>
    ) -> [PubNubMetadataChange<MetadataType>] {
        fields.sorted { $0.key < $1.key }.compactMap { key, value in
            if let field = texts[key] { return .stringOptional(field, value?.string) }
            guard key == "custom" else { return nil }
            let members: [String: any JSONCodableScalar]? = value?.members.mapValues { JSONCodableScalarType($0) }
            return .customOptional(custom, members)
        }
    }
}

extension RecordChangeset {
    /// The changed fields, or all fields of a new record, by the names in the event.
    ///
    /// - Parameter record: the name of the record in the payload.
    func fields(of record: String) -> [String: ChatKit.AnyJSON?] {
        guard isNew else { return Dictionary(changes.map { ($0.key, $0.new) }, uniquingKeysWith: { $1 }) }
        let members = event.payload[record]?.members ?? [:]
        return members.filter { $0.value != .null }.mapValues { $0 }
    }
}

/// The changes of a user's record.
public struct PubNubUserMetadataChangeset {
    /// The user's id.
    public let metadataId: String
    /// The changed fields.
    public let changes: [PubNubMetadataChange<any PubNubUserMetadata>]
    /// The time of the change.
    public let updated: Date
    /// The version of the record after the change.
    public let eTag: String

    init(_ change: RecordChangeset<User>) {
        metadataId = change.record.id
        changes = PubNubMetadataChange<any PubNubUserMetadata>.changes(
            of: change.fields(of: "user"),
            [
                "name": \.name, "type": \.type, "status": \.status, "external_id": \.externalId,
                "profile_url": \.profileURL, "email": \.email,
            ], \.custom)
        updated = change.event.published.date
        eTag = change.record.eTag
    }

    /// Returns a record with the changes. A record of another user is returned as it is.
    public func apply(to object: any PubNubUserMetadata) -> any PubNubUserMetadata {
        guard object.metadataId == metadataId else { return object }
        var record = changes.reduce(object) { $1.applied(to: $0) }
        (record.updated, record.eTag) = (updated, eTag)
        return record
    }
}

/// The changes of a channel's record.
public struct PubNubChannelMetadataChangeset {
    /// The channel's id.
    public let metadataId: String
    /// The changed fields.
    public let changes: [PubNubMetadataChange<any PubNubChannelMetadata>]
    /// The time of the change.
    public let updated: Date
    /// The version of the record after the change.
    public let eTag: String

    init(_ change: RecordChangeset<Channel>) {
        metadataId = change.record.id
        changes = PubNubMetadataChange<any PubNubChannelMetadata>.changes(
            of: change.fields(of: "channel"),
            ["name": \.name, "type": \.type, "status": \.status, "description": \.channelDescription], \.custom)
        updated = change.event.published.date
        eTag = change.record.eTag
    }

    /// Returns a record with the changes. A record of another channel is returned as it is.
    public func apply(to object: any PubNubChannelMetadata) -> any PubNubChannelMetadata {
        guard object.metadataId == metadataId else { return object }
        var record = changes.reduce(object) { $1.applied(to: $0) }
        (record.updated, record.eTag) = (updated, eTag)
        return record
    }
}
