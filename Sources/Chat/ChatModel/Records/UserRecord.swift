public import JSON

/// A user as an app keeps it. Nobody needs one: who has none is known by the id alone.
public struct UserRecord: Sendable, Equatable {
    public var id: String
    public var name: String?
    public var profileURL: String?
    public var email: String?
    /// The user's id in another system.
    public var externalID: String?
    /// A kind and a state, in the app's own words.
    public var type: String?
    public var status: String?
    /// An object of the app's own; numbers keep their digits.
    public var custom: JSONText?
    /// Texts by key.
    public var metadata: [String: String] = [:]
    /// Whether an invitation makes the user a member at once, without an answer.
    public var autoAcceptsInvites = false
    /// Zero for one without a record.
    public var created: Timetoken = .zero
    public var updated: Timetoken = .zero
    public var etag = ""

    public init(id: String) { self.id = id }

    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.user, id, in: app) }

    /// The members that the store keeps, and that ``show(_:to:)`` prints.
    private func printMembers(_ fields: PublicUserFields = .all, to writer: inout JSONWriter) {
        writer.nullable("name", name)
        writer.nullable("profile_url", profileURL)
        for field in PublicUserFields.Field.allCases where fields.contains(field) {
            switch field {
            case .email: writer.nullable("email", email)
            case .externalID: writer.nullable("external_id", externalID)
            case .type: writer.nullable("type", type)
            case .status: writer.nullable("status", status)
            case .custom: writer.nullable("custom", custom)
            case .metadata: writer.member("metadata", metadata)
            }
        }
        writer.member("auto_accepts_invites", autoAcceptsInvites)
        writer.member("created_timetoken", created.description)
    }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads what the store keeps, or what the REST API shows.
    public init(id: String, _ value: JSONValue, _ text: JSONText) {
        self.id = id
        name = value.text("name")
        profileURL = value.text("profile_url")
        email = value.text("email")
        externalID = value.text("external_id")
        type = value.text("type")
        status = value.text("status")
        custom = text.part("custom")
        metadata = value.texts("metadata")
        autoAcceptsInvites = value.flag("auto_accepts_invites")
        created = value.timetoken("created_timetoken")
    }

    /// Nil for a record that is none of ours.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the record as the REST API shows it, and as events of the record hold it (`$defs/user_record` of the catalogue).
    ///
    /// - Parameter fields: A field that is missing here is left out, as `null` would say that it was cleared.
    public func show(_ fields: PublicUserFields = .all, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { printMembers(fields, to: &$0) }
    }

    /// Prints the members of the record that other objects' events name a user by: those that every reader sees, and of them
    /// those with a value (`$defs/user` of the catalogue).
    public func printReference(to writer: inout JSONWriter) {
        writer.beginObject()
        printReferenceMembers(to: &writer)
        writer.endObject()
    }

    /// Prints the members of ``printReference(to:)`` into an object that has more.
    public func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        if let name { writer.member("name", name) }
        if let profileURL { writer.member("profile_url", profileURL) }
    }
}
