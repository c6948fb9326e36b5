/// By which post an event came in: told by its `cause`, so that it is known for as long as the event is.
public struct InboundOrigin: Sendable, Equatable {
    public let source: String
    /// The id of the post in the source's log, which keeps the latest only.
    public let request: String

    private static let prefix = "in/"

    init(source: String, request: String) {
        self.source = source
        self.request = request
    }

    /// The origin a cause tells of; nil for one of another kind. Ids of requests, which callers may choose, have no slash.
    public init?(cause: String) {
        let parts = cause.split(separator: "/", omittingEmptySubsequences: false)
        guard cause.hasPrefix(Self.prefix), parts.count == 3 else { return nil }
        self.init(source: String(parts[1]), request: String(parts[2]))
    }

    var cause: String { Self.prefix + source + "/" + request }
}
