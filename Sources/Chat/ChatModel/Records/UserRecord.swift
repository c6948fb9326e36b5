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

    public static func key(_ id: String, in space: SpaceID) -> RecordKey { RecordKey(.user, id, in: space) }

    /// What the store keeps, and what the native API shows beside id, etag and the time of the last change.
    public func printMembers(to writer: inout JSONWriter) {
        writer.nullable("name", name)
        writer.nullable("profile_url", profileURL)
        writer.nullable("email", email)
        writer.nullable("external_id", externalID)
        writer.nullable("type", type)
        writer.nullable("status", status)
        writer.nullable("custom", custom)
        writer.member("metadata", metadata)
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

    /// Reads what `printMembers` printed, from the store or from the native API.
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

    /// How events name a user: the id, and what there is to show (`$defs/user` of the catalogue).
    public func printReference(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("user_id", id)
        if let name { writer.member("nickname", name) }
        if let profileURL { writer.member("profile_url", profileURL) }
        writer.endObject()
    }
}
