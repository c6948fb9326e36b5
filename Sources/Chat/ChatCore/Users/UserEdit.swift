public import ChatModel
public import JSON

/// An edit of a user's record. A field with the value `keep` is not changed.
public struct UserEdit: Sendable {
    /// The name for display: at most `Limits.recordTextLength` characters.
    public var name = FieldEdit<String>.keep
    /// The URL of the user's picture: at most `Limits.recordTextLength` characters.
    public var profileURL = FieldEdit<String>.keep
    /// The email address: at most `Limits.recordTextLength` characters. Its format is not checked.
    public var email = FieldEdit<String>.keep
    /// The user's id in another system: at most `Limits.recordTextLength` characters.
    public var externalID = FieldEdit<String>.keep
    /// A type, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var type = FieldEdit<String>.keep
    /// A status, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var status = FieldEdit<String>.keep
    /// A JSON object, defined by the app: at most `Limits.recordValueBytes` bytes.
    public var custom = FieldEdit<JSONText>.keep
    /// Texts by key, together at most `Limits.recordValueBytes` bytes of JSON. The given texts replace all previous
    /// texts.
    public var metadata = FieldEdit<[String: String]>.keep
    /// True to accept all invitations automatically: an invitation then makes the user a member immediately.
    public var autoAcceptsInvites = FieldEdit<Bool>.keep

    /// Creates an edit that changes no field.
    public init() {}

    func apply(to user: inout UserRecord) {
        user.name = name.applied(to: user.name)
        user.profileURL = profileURL.applied(to: user.profileURL)
        user.email = email.applied(to: user.email)
        user.externalID = externalID.applied(to: user.externalID)
        user.type = type.applied(to: user.type)
        user.status = status.applied(to: user.status)
        user.custom = custom.applied(to: user.custom)
        user.metadata = metadata.applied(to: user.metadata) ?? [:]
        user.autoAcceptsInvites = autoAcceptsInvites.applied(to: user.autoAcceptsInvites) ?? false
    }

    func check(_ limits: Limits) throws(ChatError) {
        try limits.check(name.applied(to: nil), "name")
        try limits.check(profileURL.applied(to: nil), "profile_url")
        try limits.check(email.applied(to: nil), "email")
        try limits.check(externalID.applied(to: nil), "external_id")
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(object: custom.applied(to: nil), "custom")
        try Self.check(metadata: metadata.applied(to: nil) ?? [:], limits)
    }

    static func check(metadata: [String: String], _ limits: Limits) throws(ChatError) {
        var texts = JSONWriter()
        texts.beginObject()
        for (name, text) in metadata {
            texts.key(text: name)
            texts.string(text)
        }
        texts.endObject()
        try limits.check(value: texts.text, "metadata")
    }
}
