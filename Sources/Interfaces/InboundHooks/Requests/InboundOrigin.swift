/// The post from which an event originates. The event's `cause` holds it, so it is known as long as the event exists.
public struct InboundOrigin: Sendable, Equatable {
    /// The id of the source.
    public let source: String
    /// The id of the post in the source's log, which keeps only the latest posts.
    public let request: String

    private static let prefix = "in/"

    init(source: String, request: String) {
        self.source = source
        self.request = request
    }

    /// Parses a cause. Returns nil for a cause of another kind. Request ids, which callers may choose, contain no
    /// slash.
    public init?(cause: String) {
        let parts = cause.split(separator: "/", omittingEmptySubsequences: false)
        guard cause.hasPrefix(Self.prefix), parts.count == 3 else { return nil }
        self.init(source: String(parts[1]), request: String(parts[2]))
    }

    var cause: String { Self.prefix + source + "/" + request }
}
