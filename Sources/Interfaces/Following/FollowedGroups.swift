public import ChatCore
public import ChatModel

/// What a stream or poll asked for that follows channel groups: it changes when a group does.
public struct FollowedGroups: Sendable {
    public let names: [String]
    /// The channels and patterns it has named beside the groups.
    public let channels: [String]
    /// How many changes of groups there had been when they were looked up.
    public var version: UInt64

    public init(names: [String], channels: [String], version: UInt64) {
        self.names = names
        self.channels = channels
        self.version = version
    }

    /// Whether one of them is among the records.
    public func isAmong(_ changed: Set<RecordKey>, _ space: SpaceID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: space)) }
    }
}

extension ChatAccess {
    /// The selection of those channels and of the groups' channels, as far as the credential reaches them; what is asked
    /// of types and by filter is as in the one it resembles.
    public func selection(of groups: FollowedGroups, like other: Selection) async throws(ChatError) -> Selection {
        let named = groups.channels.isEmpty ? nil : try selection(channels: groups.channels).channels
        var channels = named ?? ChannelSet(space: space)
        let records = try await service.engine.directory.read(groups.names.map { GroupRecord.key($0, in: space) })
        for name in records.compactMap({ $0.flatMap(GroupRecord.init) }).flatMap(\.channels)
        where caller.reaches(channel: name) {
            channels.names.insert(ExactText(name))
        }
        let selection = Selection(
            channels: channels, types: other.types, filter: other.filter, isOfUser: other.isOfUser)
        guard let viewer = other.viewer else { return selection }
        return try await self.selection(selection, heardBy: viewer.user, on: viewer.device)
    }
}
