import ChatCore
import ChatModel

/// What the groups of a request hold: read once for all who ask, and bounded, since a request may name many.
struct GroupChannels: Sendable {
    /// Read at once; most requests name fewer.
    private static let sliceLength = 16

    /// As the request names them, those of presence too.
    let names: [String]
    private var channels: [ExactText: [String]] = [:]

    /// - Parameter isWanted: which of their channels matter; others count for nothing.
    /// - Throws: `.malformed` for a name no group has; `WireError` for groups that hold more together than
    ///   `Limits.groupChannelsPerRequest`.
    init(
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

    /// Nil for a group that the request does not name.
    subscript(name: String) -> [String]? { channels[ExactText(name.withoutPresence)] }
}

extension WireError {
    fileprivate static func crowdedGroups(_ most: Int) -> WireError {
        WireError(
            status: 400, text: "The channel groups hold more than \(most) channels together; name fewer of them")
    }
}
