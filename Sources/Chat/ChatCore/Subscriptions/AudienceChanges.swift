import ChatModel

/// The events the hub has handed out after which somebody may hear a channel no more, or again. The last ones by their
/// channels: who was asked whether a user may hear something learns whether that still holds.
struct AudienceChanges {
    /// How many are known by their channels.
    private static let held = 256

    /// How many there were since the start.
    private(set) var count: UInt64 = 0
    private var channels: [ChannelID] = []

    private static let types: Set<String> = [
        "user.banned", "user.unbanned", "member.left", "channel.created", "channel.updated",
    ]

    /// Whether the event is one. What clients publish in the same words has no such audience.
    static func include(_ event: Event) -> Bool {
        guard case .rule = event.audience else { return false }
        return types.contains(event.type)
    }

    mutating func note(_ event: Event) {
        let place = Int(count % UInt64(Self.held))
        if place < channels.count { channels[place] = event.channel } else { channels.append(event.channel) }
        count += 1
    }

    /// Whether any since `earlier` was on one of the channels; true where nobody knows.
    func touch(_ wanted: ChannelSet, since earlier: UInt64) -> Bool {
        guard count > earlier else { return false }
        guard count - earlier <= UInt64(Self.held) else { return true }
        return (earlier..<count).contains { wanted.contains(channels[Int($0 % UInt64(Self.held))]) }
    }
}
