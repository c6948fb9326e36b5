/// The fields of users' records that an app shows to its other users.
///
/// The id, `name`, `profile_url`, whether a user accepts invitations and the times are always shown: events name users by
/// them. API keys and the user see every field.
public struct PublicUserFields: Sendable, Equatable {
    /// A field that an app may keep from its other users, by its name in the native API.
    public enum Field: String, CaseIterable, Sendable {
        case email
        case externalID = "external_id"
        case type, status, custom, metadata
    }

    private let fields: Set<Field>

    /// All but `email` and `external_id`, which identify a person outside the app. `custom` and `metadata` are public as
    /// they are in PubNub and Sendbird, whose clients read the display data of others from them.
    public static let standard = PublicUserFields([.type, .status, .custom, .metadata])

    /// Every field.
    public static let all = PublicUserFields(Set(Field.allCases))

    public init(_ fields: Set<Field>) { self.fields = fields }

    /// Nil where a name is none of ``Field``.
    public init?(names: [String]) {
        let fields = names.compactMap(Field.init)
        guard fields.count == names.count else { return nil }
        self.fields = Set(fields)
    }

    /// In the order of ``Field``.
    public var names: [String] { Field.allCases.filter(fields.contains).map(\.rawValue) }

    /// The record without what is private: as if it had never been set.
    public func shown(_ user: UserRecord) -> UserRecord {
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

    /// Whether the app shows a field to its other users.
    func contains(_ field: Field) -> Bool { fields.contains(field) }

    /// Whether a filter or an order may read a field of users' records, as the store spells it.
    public func reveals(_ stored: String) -> Bool { Field(rawValue: stored).map(fields.contains) ?? true }
}
