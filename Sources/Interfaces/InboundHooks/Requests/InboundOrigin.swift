/// The post from which an event originates, as stored in the member `cause` of the event.
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

    /// Parses the cause of an event. Returns nil when the event does not originate from a post to a source. In this
    /// case the cause is the id of the request that emitted the event. Clients may choose that id, but it contains no
    /// slash, so it cannot be mistaken for a post.
    public init?(cause: String) {
        let parts = cause.split(separator: "/", omittingEmptySubsequences: false)
        guard cause.hasPrefix(Self.prefix), parts.count == 3 else { return nil }
        self.init(source: String(parts[1]), request: String(parts[2]))
    }

    var cause: String { Self.prefix + source + "/" + request }
}
