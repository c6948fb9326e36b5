public import ChatModel

/// Which live events are wanted.
public struct EventSelection: Sendable, Hashable {
    /// Names and patterns (`a.*`). Empty together with `groups`: for a device, what concerns its user; otherwise everything
    /// that can be read.
    public var channels: [String] = []
    /// Channel groups, whose channels are followed as they change.
    public var groups: [String] = []
    /// Names and patterns; empty: every type.
    public var types: [String] = []
    /// An expression in the language of filters: `data.amount > 100`.
    public var filter: String?
    /// Whether `presence.*` is among it.
    public var hasPresence = false
    /// Starts behind this position; nil: from now on.
    public var since: Timetoken?
    /// Whether it is followed as a device of the user, which hears what each event's audience admits.
    public var isDevice = false

    public init(channels: [String] = [], types: [String] = []) {
        self.channels = channels
        self.types = types
    }
}
