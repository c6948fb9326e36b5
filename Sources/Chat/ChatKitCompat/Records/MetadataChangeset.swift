import ChatKit
import ChatModel
public import FoundationEssentials

/// The change of a field of a record.
public enum PubNubMetadataChange<MetadataType> {
    /// The changed text field and its new value; nil when the field was removed.
    case stringOptional(WritableKeyPath<MetadataType, String?>, String?)
    /// The changed `custom` field and its new value; nil when the field was removed.
    case customOptional(
        WritableKeyPath<MetadataType, [String: any JSONCodableScalar]?>, [String: any JSONCodableScalar]?)

    /// Returns a copy of the record to which this change is applied.
    func applied(to record: MetadataType) -> MetadataType {
        var record = record
        switch self {
        case .stringOptional(let field, let value): record[keyPath: field] = value
        case .customOptional(let field, let value): record[keyPath: field] = value
        }
        return record
    }

    /// Returns the changes of a record's fields, ordered by the names of the fields. Unknown fields are left out.
    ///
    /// - Parameters:
    ///   - fields: the new values by field name; nil for a removed field.
    ///   - texts: the properties of the record that contain a text, by field name.
    ///   - custom: the property of the record that contains the app's own fields.
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
    /// Returns the new values of the changed fields, by field name; nil for a removed field. For a new record, returns
    /// all fields that have a value.
    ///
    /// - Parameter record: the member of the payload that contains the record.
    func fields(of record: String) -> [String: ChatKit.AnyJSON?] {
        guard isNew else { return Dictionary(changes.map { ($0.key, $0.new) }, uniquingKeysWith: { $1 }) }
        let members = event.payload[record]?.members ?? [:]
        return members.filter { $0.value != .null }.mapValues { $0 }
    }
}

/// The changes of a user's record.
public struct PubNubUserMetadataChangeset {
    /// The id of the user.
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

    /// Returns a copy of the record to which the changes are applied. Returns the record of another user unchanged.
    public func apply(to object: any PubNubUserMetadata) -> any PubNubUserMetadata {
        guard object.metadataId == metadataId else { return object }
        var record = changes.reduce(object) { $1.applied(to: $0) }
        (record.updated, record.eTag) = (updated, eTag)
        return record
    }
}

/// The changes of a channel's record.
public struct PubNubChannelMetadataChangeset {
    /// The name of the channel.
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

    /// Returns a copy of the record to which the changes are applied. Returns the record of another channel unchanged.
    public func apply(to object: any PubNubChannelMetadata) -> any PubNubChannelMetadata {
        guard object.metadataId == metadataId else { return object }
        var record = changes.reduce(object) { $1.applied(to: $0) }
        (record.updated, record.eTag) = (updated, eTag)
        return record
    }
}
