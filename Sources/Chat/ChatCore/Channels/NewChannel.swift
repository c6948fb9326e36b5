public import ChatModel

/// A channel that is to be made.
public struct NewChannel: Sendable {
    public var kind: ChannelKind
    /// Nil: made up here. A direct channel's is made of its two users' names.
    public var id: String?
    public var edit = ChannelEdit()
    /// The first members beside whoever makes it; of a direct channel the two, or the other one.
    public var users: [String] = []
    /// Whether to return the existing distinct channel of these users, in any order, instead of creating one. Only for
    /// the kind `group`.
    public var isDistinct = false

    public init(kind: ChannelKind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }
}

extension ChannelRecord {
    /// The direct channel of two users: the same one whoever asks.
    static func direct(between pair: [String]) -> ChannelRecord {
        let pair = pair.sorted { ExactText($0) < ExactText($1) }
        var channel = ChannelRecord(id: "direct." + key(of: pair), kind: .direct)
        channel.pair = pair
        return channel
    }
}
