public import ChatModel

/// A channel's record with what is counted beside it.
public struct ChannelView: Sendable {
    public let channel: ChannelRecord
    /// Zero for open channels.
    public let counts: MemberCounts
}
