public import ChatModel
public import JSON

/// A requested change of a channel's record. A field with the value `keep` is not changed.
public struct ChannelEdit: Sendable {
    /// The name for display: at most `Limits.recordTextLength` characters.
    public var name = FieldEdit<String>.keep
    public var description = FieldEdit<String>.keep
    /// A label that groups channels: at most `Limits.recordTextLength` characters.
    public var customType = FieldEdit<String>.keep
    /// The URL of a picture: at most `Limits.recordTextLength` characters.
    public var coverURL = FieldEdit<String>.keep
    /// A type, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var type = FieldEdit<String>.keep
    /// A status, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var status = FieldEdit<String>.keep
    /// A JSON value, defined by the app: at most `Limits.recordValueBytes` bytes.
    public var data = FieldEdit<JSONText>.keep
    /// A JSON object, defined by the app: at most `Limits.recordValueBytes` bytes.
    public var custom = FieldEdit<JSONText>.keep

    /// Creates an edit that changes no field.
    public init() {}

    func apply(to channel: inout ChannelRecord) {
        channel.name = name.applied(to: channel.name)
        channel.description = description.applied(to: channel.description)
        channel.customType = customType.applied(to: channel.customType)
        channel.coverURL = coverURL.applied(to: channel.coverURL)
        channel.type = type.applied(to: channel.type)
        channel.status = status.applied(to: channel.status)
        channel.data = data.applied(to: channel.data)
        channel.custom = custom.applied(to: channel.custom)
    }

    /// Replaces all fields of the record that an edit can contain. A field with the value `keep` is cleared. The fields
    /// `data` and `custom` are not cleared before a `change` edit, because this edit needs the old value: if the new
    /// JSON equals the old JSON, the edit keeps the old bytes.
    func replace(in channel: inout ChannelRecord) {
        channel.name = nil
        channel.description = nil
        channel.customType = nil
        channel.coverURL = nil
        channel.type = nil
        channel.status = nil
        if data.isKept { channel.data = nil }
        if custom.isKept { channel.custom = nil }
        apply(to: &channel)
    }

    func check(_ limits: Limits) throws(ChatError) {
        try limits.check(name.applied(to: nil), "name")
        try limits.check(description.applied(to: nil), "description")
        try limits.check(customType.applied(to: nil), "custom_type")
        try limits.check(coverURL.applied(to: nil), "cover_url")
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(value: data.applied(to: nil), "data")
        try limits.check(object: custom.applied(to: nil), "custom")
    }
}
