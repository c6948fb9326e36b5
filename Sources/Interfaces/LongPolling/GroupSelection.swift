public import ChatCore
public import ChatModel

/// The part of a stream's or poll's request that names channel groups. The selection changes when one of the groups
/// does.
public struct GroupSelection: Sendable {
    /// The names of the groups.
    public let names: [String]
    /// The channels and patterns that were named in addition to the groups.
    public let channels: [String]
    /// The number of group changes before the groups were looked up.
    public var version: UInt64

    /// A request that names groups, and the number of group changes at that time.
    public init(names: [String], channels: [String], version: UInt64) {
        self.names = names
        self.channels = channels
        self.version = version
    }

    /// The keys of the groups' records.
    public func keys(in app: AppID) -> Set<RecordKey> { Set(names.map { GroupRecord.key($0, in: app) }) }

    /// True when one of the groups is among the changed records.
    public func isAmong(_ changed: Set<RecordKey>, _ app: AppID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: app)) }
    }
}

extension ChatService {
    /// The present channels of groups, by key; none for a group that does not exist.
    ///
    /// - Throws: the errors of the store.
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
    /// A selection of the named channels and the groups' channels, limited to those that the caller may read. Types and
    /// filter are those of `other`.
    ///
    /// - Parameter isOfDevice: true when a user's device listens with it.
    /// - Throws: `.malformed` past `Limits.groupChannelsPerRequest`; the errors of the store.
    public func selection(
        of groups: GroupSelection, like other: Selection, isOfDevice: Bool = false
    ) async throws(ChatError) -> Selection {
        let held = try await service.channels(ofGroups: groups.keys(in: app))
        return Selection(
            channels: try await channels(of: groups, holding: held, isOfDevice: isOfDevice), types: other.types,
            filter: other.filter, isOfUser: other.isOfUser)
    }

    /// The same channels, given the present contents of the groups.
    ///
    /// A group's channel that the credential does not cover, or that its user may not read, is left out. For a channel
    /// that is named directly, other code refuses the request.
    ///
    /// - Throws: `.malformed` for groups that hold too many channels.
    public func channels(
        of groups: GroupSelection, holding held: [RecordKey: [String]], isOfDevice: Bool
    ) async throws(ChatError) -> ChannelSet {
        let named = groups.channels.isEmpty ? nil : try selection(channels: groups.channels).channels
        var channels = named ?? ChannelSet(app: app)
        var grouped: Set<ExactText> = []
        for name in groups.keys(in: app).compactMap({ held[$0] }).joined() where caller.reads(channel: name) {
            grouped.insert(ExactText(name))
        }
        try requireCapacity(forGroupChannels: grouped.count)
        grouped.subtract(channels.names)
        grouped.subtract(try await inaccessible(of: grouped, isOfDevice: isOfDevice))
        channels.names.formUnion(grouped)
        return channels
    }
}
