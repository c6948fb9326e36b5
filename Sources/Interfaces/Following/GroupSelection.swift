public import ChatCore
public import ChatModel

/// What a stream or poll asked for that follows channel groups: it changes when a group does.
public struct GroupSelection: Sendable {
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
    public func keys(in app: AppID) -> Set<RecordKey> { Set(names.map { GroupRecord.key($0, in: app) }) }

    /// Whether one of them is among the records.
    public func isAmong(_ changed: Set<RecordKey>, _ app: AppID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: app)) }
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
    /// The selection of those channels and of the groups' channels, as far as they may be heard; what is asked of types and
    /// by filter is as in the one it resembles.
    ///
    /// - Parameter isOfDevice: whether a user is to listen by it.
    public func selection(
        of groups: GroupSelection, like other: Selection, isOfDevice: Bool = false
    ) async throws(ChatError) -> Selection {
        let held = try await service.channels(ofGroups: groups.keys(in: app))
        return Selection(
            channels: try await channels(of: groups, holding: held, isOfDevice: isOfDevice), types: other.types,
            filter: other.filter, isOfUser: other.isOfUser)
    }

    /// The same channels, where it is known what the groups hold.
    ///
    /// A group's channel that the credential does not reach, or that its user may not hear, is left out; one that is named is
    /// refused elsewhere.
    ///
    /// - Throws: `.malformed` for groups that hold too many.
    public func channels(
        of groups: GroupSelection, holding held: [RecordKey: [String]], isOfDevice: Bool
    ) async throws(ChatError) -> ChannelSet {
        let named = groups.channels.isEmpty ? nil : try selection(channels: groups.channels).channels
        var channels = named ?? ChannelSet(app: app)
        var grouped: Set<ExactText> = []
        for name in groups.keys(in: app).compactMap({ held[$0] }).joined() where caller.reads(channel: name) {
            grouped.insert(ExactText(name))
        }
        try demandRoom(forGroupChannels: grouped.count)
        grouped.subtract(channels.names)
        grouped.subtract(try await unheard(of: grouped, isOfDevice: isOfDevice))
        channels.names.formUnion(grouped)
        return channels
    }
}
