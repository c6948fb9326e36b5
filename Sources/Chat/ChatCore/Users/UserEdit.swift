public import ChatModel
public import JSON

/// An edit of a user's record.
public struct UserEdit: Sendable {
    public var name = FieldEdit<String>.keep
    public var profileURL = FieldEdit<String>.keep
    public var email = FieldEdit<String>.keep
    public var externalID = FieldEdit<String>.keep
    public var type = FieldEdit<String>.keep
    public var status = FieldEdit<String>.keep
    public var custom = FieldEdit<JSONText>.keep
    public var metadata = FieldEdit<[String: String]>.keep
    public var autoAcceptsInvites = FieldEdit<Bool>.keep

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
