public import ChatModel
public import JSON

/// A channel's record with what is counted beside it.
public struct ChannelView: Sendable {
    public let channel: ChannelRecord
    /// Zero for open channels.
    public let counts: MemberCounts

    /// Prints the channel as the REST API and events show it.
    public func show(to writer: inout JSONWriter) { channel.show(counts, to: &writer) }
}
