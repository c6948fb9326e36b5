/// The post from which an event originates. The event stores it in its `cause`.
public struct InboundOrigin: Sendable, Equatable {
    /// The id of the source.
    public let source: String
    /// The id of the post in the source's log of requests. The log contains only the latest posts.
    public let request: String

    private static let prefix = "in/"

    init(source: String, request: String) {
        self.source = source
        self.request = request
    }

    /// Parses the cause of an event. Nil for a cause that is not a post. A cause that is a request's id, which clients
    /// may choose, contains no slash.
    public init?(cause: String) {
        let parts = cause.split(separator: "/", omittingEmptySubsequences: false)
        guard cause.hasPrefix(Self.prefix), parts.count == 3 else { return nil }
        self.init(source: String(parts[1]), request: String(parts[2]))
    }

    var cause: String { Self.prefix + source + "/" + request }
}
