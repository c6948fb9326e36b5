public import ChatModel
public import JSON

/// A sender whose posts to `/in/{id}` become events.
public struct Source: Sendable {
    /// Chosen by its owner, unique in the gateway.
    public var id: String
    public var space: SpaceID
    public var settings: SourceSettings
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the record.
    public var etag: String

    /// The source as the native API shows it: how many secrets it has, never the secrets.
    public func printed() -> JSONText { JSONText { print(to: &$0) } }

    /// Prints it as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {}
}
