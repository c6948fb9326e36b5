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

    /// The groups' records.
    public func keys(in space: SpaceID) -> Set<RecordKey> { Set(names.map { GroupRecord.key($0, in: space) }) }

    /// Whether one of them is among the records.
    public func isAmong(_ changed: Set<RecordKey>, _ space: SpaceID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: space)) }
    }
}

extension ChatService {
    /// What channel groups hold now, by their keys; of those that are not there, nothing.
    public func channels(ofGroups keys: Set<RecordKey>) async throws(ChatError) -> [RecordKey: [String]] {
        var found: [RecordKey: [String]] = [:]
        var rest = Array(keys)[...]
        while !rest.isEmpty {
            let records = try await engine.directory.read(Array(rest.prefix(256)))
            for record in records.compactMap(\.self) { found[record.key] = GroupRecord(record)?.channels }
            rest = rest.dropFirst(256)
        }
        return found
    }
}

extension ChatAccess {
    /// The selection of those channels and of the groups' channels, as far as the credential reaches them; what is asked
    /// of types and by filter is as in the one it resembles.
    public func selection(of groups: FollowedGroups, like other: Selection) async throws(ChatError) -> Selection {
        let held = try await service.channels(ofGroups: groups.keys(in: space))
        let channels = try channels(of: groups, holding: held)
        let selection = Selection(
            channels: channels, types: other.types, filter: other.filter, isOfUser: other.isOfUser)
        guard let viewer = other.viewer else { return selection }
        return try await self.selection(selection, heardBy: viewer.user, on: viewer.device)
    }

    /// The same channels, where it is known what the groups hold.
    public func channels(
        of groups: FollowedGroups, holding held: [RecordKey: [String]]
    ) throws(ChatError) -> ChannelSet {
        let named = groups.channels.isEmpty ? nil : try selection(channels: groups.channels).channels
        var channels = named ?? ChannelSet(space: space)
        for name in groups.keys(in: space).compactMap({ held[$0] }).joined() where caller.reaches(channel: name) {
            channels.names.insert(ExactText(name))
        }
        return channels
    }
}
