public import ChatModel
import Signing

/// A channel that is to be made.
public struct NewChannel: Sendable {
    public var kind: ChannelKind
    /// Nil: made up here. A direct channel's is made of its two users' names.
    public var id: String?
    public var edit = ChannelEdit()
    /// The first members beside whoever makes it; of a direct channel the two, or the other one.
    public var users: [String] = []

    public init(kind: ChannelKind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }
}

extension ChannelRecord {
    /// The direct channel of two users: the same one whoever asks.
    ///
    /// The lengths keep `ab` + `c` and `a` + `bc` apart.
    static func direct(between pair: [String]) -> ChannelRecord {
        let pair = pair.sorted { ExactText($0) < ExactText($1) }
        let text = pair.map { "\($0.utf8.count):\($0)" }.joined()
        let digest = Base64.encodeURL(Array(sha256(Array(text.utf8)).prefix(16)))
        var channel = ChannelRecord(id: "direct." + digest, kind: .direct)
        channel.pair = pair
        return channel
    }
}
