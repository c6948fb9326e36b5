public import JSON

/// A user's record in an app. It is optional: a user without one is known by the id alone.
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
    /// A type, as free text of the app.
    public var type: String?
    /// A state, as free text of the app.
    public var status: String?
    /// An object of the app; numbers keep their digits.
    public var custom: JSONText?
    /// Texts by key.
    public var metadata: [String: String] = [:]
    /// True when an invitation makes the user a member at once, without an answer.
    public var autoAcceptsInvites = false
    /// The time of creation; zero for a user without a record.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// A record without values.
    public init(id: String) { self.id = id }

    /// The key under which the store keeps the record.
    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.user, id, in: app) }

    /// Prints the members that the store keeps and ``show(_:to:)`` prints.
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

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads the form that the store or the REST API has.
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

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the record as the REST API shows it and as the record's events contain it (`$defs/user_record` of the
    /// catalogue).
    ///
    /// - Parameter fields: the fields to print. Other fields are left out, because `null` would mean that they were
    ///   cleared.
    public func show(_ fields: PublicUserFields = .all, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { printMembers(fields, to: &$0) }
    }

    /// Prints the members that identify a user in events of other objects: those that every reader sees and that have a
    /// value (`$defs/user` of the catalogue).
    public func printReference(to writer: inout JSONWriter) {
        writer.beginObject()
        printReferenceMembers(to: &writer)
        writer.endObject()
    }

    /// Prints the members of ``printReference(to:)`` into an object with further members.
    func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        if let name { writer.member("name", name) }
        if let profileURL { writer.member("profile_url", profileURL) }
    }
}
