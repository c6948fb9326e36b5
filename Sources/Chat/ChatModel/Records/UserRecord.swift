public import JSON

/// The record of a user. A user does not need one: events and requests identify a user by the id alone.
public struct UserRecord: Sendable, Equatable {
    /// The user's name in events and requests, which never changes.
    public var id: String
    /// The name for display.
    public var name: String?
    /// The address of the user's picture.
    public var profileURL: String?
    /// The user's email address.
    public var email: String?
    /// The user's id in another system.
    public var externalID: String?
    /// A type that the app defines, as free text.
    public var type: String?
    /// A status that the app defines, as free text.
    public var status: String?
    /// The app's own data, a JSON object. Numbers keep their digits.
    public var custom: JSONText?
    /// The app's further texts, by their keys.
    public var metadata: [String: String] = [:]
    /// True when an invitation makes the user a joined member immediately, without acceptance.
    public var autoAcceptsInvites = false
    /// The time of creation; zero for a user without a record.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// Creates a record without optional values.
    public init(id: String) { self.id = id }

    /// The key of the record of the user with this id.
    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.user, id, in: app) }

    /// Prints the members that the stored body and ``show(_:to:)`` share.
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

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads the JSON object of a user, as the store or the REST API writes it. Missing members get their default
    /// values.
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

    /// Reads a stored record; nil when its body is not valid JSON.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the record as the REST API and the record's events show it (`$defs/user_record` of the catalogue).
    ///
    /// - Parameter fields: the fields to print. All other fields are left out, because `null` would mean that the user
    ///   has no value.
    public func show(_ fields: PublicUserFields = .all, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { printMembers(fields, to: &$0) }
    }

    /// Prints an object that identifies a user in events of other objects (`$defs/user` of the catalogue). The object
    /// has only members that every reader may see and that have a value.
    public func printReference(to writer: inout JSONWriter) {
        writer.beginObject()
        printReferenceMembers(to: &writer)
        writer.endObject()
    }

    /// Prints the members of ``printReference(to:)`` into an object that the caller has begun.
    func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        if let name { writer.member("name", name) }
        if let profileURL { writer.member("profile_url", profileURL) }
    }
}
