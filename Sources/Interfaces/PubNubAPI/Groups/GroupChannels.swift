import ChatCore
import ChatModel

/// The channels of all groups that a request names. Each group is read once. The total number of channels is bounded,
/// because a request may name many groups.
struct GroupChannels: Sendable {
    /// The number of groups per read of the store. Most requests name fewer groups than this.
    private static let sliceLength = 16

    /// The names as the request contains them. Some may have the presence suffix.
    let names: [String]
    private var channels: [ExactText: [String]] = [:]

    /// The channels of a request without groups.
    init() { names = [] }

    /// Reads the groups that a request names.
    ///
    /// - Parameter isWanted: selects the channels to include. Other channels do not count towards the limit.
    /// - Throws: `.malformed` for an invalid group name; `WireError` when there are more groups than
    ///   `Limits.streamChannels`, or more channels in total than `Limits.groupChannelsPerRequest`.
    nonisolated(nonsending) init(
        _ names: [String], _ chat: ChatAccess, where isWanted: (String) -> Bool = { _ in true }
    ) async throws {
        let most = chat.limits.groupChannelsPerRequest
        self.names = names
        var plain = names.map(\.withoutPresence).withoutRepeats[...]
        guard plain.count <= chat.limits.streamChannels else { throw WireError.unreadable }
        var count = 0
        while !plain.isEmpty {
            let slice = Array(plain.prefix(Self.sliceLength))
            plain = plain.dropFirst(slice.count)
            for (name, held) in zip(slice, try await chat.channels(ofGroups: slice)) {
                let wanted = held.filter(isWanted)
                channels[ExactText(name)] = wanted
                count += wanted.count
            }
            guard count <= most else { throw WireError.crowdedGroups(most) }
        }
    }

    /// The channels of a group; nil for a group that the request does not name.
    subscript(name: String) -> [String]? { channels[ExactText(name.withoutPresence)] }
}

extension WireError {
    fileprivate static func crowdedGroups(_ most: Int) -> WireError {
        WireError(
            status: 400, text: "The channel groups have more than \(most) channels together; name fewer groups")
    }
}
