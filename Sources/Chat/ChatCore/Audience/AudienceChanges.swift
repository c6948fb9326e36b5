import ChatModel

/// The distributed events that may have changed a user's access to a channel. The channels of the last 256 recorded
/// events are stored, so that a caller can find out whether an earlier check of access is still valid.
struct AudienceChanges {
    /// The number of events whose channels are stored.
    private static let held = 256

    /// The number of events since the gateway's start that may have changed a user's access to a channel.
    private(set) var count: UInt64 = 0
    private var channels: [ChannelID] = []

    private static let types: Set<String> = [
        "user.banned", "user.unbanned", "member.left", "channel.created", "channel.updated",
    ]

    /// Returns true when the event may change a user's access. Returns false for events of the same types that clients
    /// publish, because these events have no audience rule.
    static func include(_ event: Event) -> Bool {
        guard case .rule = event.audience else { return false }
        return types.contains(event.type)
    }

    mutating func record(_ event: Event) {
        let place = Int(count % UInt64(Self.held))
        if place < channels.count { channels[place] = event.channel } else { channels.append(event.channel) }
        count += 1
    }

    /// Returns true when an event recorded since `earlier` was on one of the channels `wanted`, or when more than 256
    /// events were recorded since `earlier`, so that not all of their channels are stored.
    ///
    /// - Parameter earlier: a value that ``count`` had at an earlier time.
    func mayAffect(_ wanted: ChannelSet, since earlier: UInt64) -> Bool {
        guard count > earlier else { return false }
        guard count - earlier <= UInt64(Self.held) else { return true }
        return (earlier..<count).contains { wanted.contains(channels[Int($0 % UInt64(Self.held))]) }
    }
}
