public import ChatModel

/// Which kept events of a channel are asked for.
public struct EventQuery: Sendable {
    public var channel: String
    /// Both bounds exclusive.
    public var after = Timetoken.zero
    public var before = Timetoken.distantFuture
    public var order = HistoryRequest.Order.newestFirst
    public var limit = 50
    /// Names and patterns; empty: every type.
    public var types: [String] = []

    public init(channel: String) { self.channel = channel }
}
