/// The fields of user records that an app's other users see.
///
/// Other users always see `id`, `name` and `profile_url`, by which events identify users, and also
/// `auto_accepts_invites` and the times. API keys and the user see every field.
public struct PublicUserFields: Sendable, Equatable {
    /// A field that an app may hide from its other users, with its name in the native API.
    public enum Field: String, CaseIterable, Sendable {
        case email
        case externalID = "external_id"
        case type, status, custom, metadata
    }

    private let fields: Set<Field>

    /// The default: all fields except `email` and `external_id`, which identify a person outside the app. `custom` and
    /// `metadata` are public as in PubNub and Sendbird, whose clients read display data of other users from them.
    public static let standard = PublicUserFields([.type, .status, .custom, .metadata])

    /// Every field.
    public static let all = PublicUserFields(Set(Field.allCases))

    /// Creates the set of the fields that other users see.
    public init(_ fields: Set<Field>) { self.fields = fields }

    /// Reads field names; nil when a name is not the name of a ``Field``.
    public init?(names: [String]) {
        let fields = names.compactMap(Field.init)
        guard fields.count == names.count else { return nil }
        self.fields = Set(fields)
    }

    /// The names of the fields, in the order of ``Field``.
    public var names: [String] { Field.allCases.filter(fields.contains).map(\.rawValue) }

    /// A copy of the record without the fields that other users do not see.
    public func visible(_ user: UserRecord) -> UserRecord {
        var user = user
        for field in Field.allCases where !fields.contains(field) {
            switch field {
            case .email: user.email = nil
            case .externalID: user.externalID = nil
            case .type: user.type = nil
            case .status: user.status = nil
            case .custom: user.custom = nil
            case .metadata: user.metadata = [:]
            }
        }
        return user
    }

    /// True when other users see the field.
    func contains(_ field: Field) -> Bool { fields.contains(field) }

    /// True when other users may filter and sort by a field of user records. `stored` is the field's name in the stored
    /// record. Also true for a field that an app cannot hide.
    public func reveals(_ stored: String) -> Bool { Field(rawValue: stored).map(fields.contains) ?? true }
}
