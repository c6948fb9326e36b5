public import ChatCore
public import ChatModel

/// The channel groups in the request of a stream or poll. When one of the groups changes, the selection changes too.
public struct GroupSelection: Sendable {
    /// The names of the groups.
    public let names: [String]
    /// The channels and patterns that the request names in addition to the groups.
    public let channels: [String]
    /// The count of group changes (``GroupObserver/version()``), read before the channels of the groups were looked up.
    /// If the count is higher later, these channels may be outdated.
    public var version: UInt64

    /// Creates the groups of a request.
    ///
    /// - Parameter version: the count of group changes, read before the channels of the groups are looked up.
    public init(names: [String], channels: [String], version: UInt64) {
        self.names = names
        self.channels = channels
        self.version = version
    }

    /// The keys of the groups' records.
    public func keys(in app: AppID) -> Set<RecordKey> { Set(names.map { GroupRecord.key($0, in: app) }) }

    /// Returns true when one of the groups is among the changed records.
    public func isAmong(_ changed: Set<RecordKey>, _ app: AppID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: app)) }
    }
}

extension ChatService {
    /// Returns the current channels of groups, by the keys of the groups. A group that does not exist has no entry.
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
    /// Creates a selection of the channels that the request names and the channels of its groups, within the caller's
    /// rights. The types and the filter are copied from `other`.
    ///
    /// - Parameter isOfDevice: true for the stream or poll of a user's device.
    /// - Throws: `.malformed` when the groups have more channels than `Limits.groupChannelsPerRequest`; the errors of
    ///   the store.
    public func selection(
        of groups: GroupSelection, like other: Selection, isOfDevice: Bool = false
    ) async throws(ChatError) -> Selection {
        let held = try await service.channels(ofGroups: groups.keys(in: app))
        return Selection(
            channels: try await channels(of: groups, holding: held, isOfDevice: isOfDevice), types: other.types,
            filter: other.filter, isOfUser: other.isOfUser)
    }

    /// Returns the channels that the request names and the channels of its groups.
    ///
    /// A group's channel is left out if the caller's credential does not cover the channel, or if the caller's user may
    /// not read the channel. This function does not check whether the user may read the channels that the request
    /// names.
    ///
    /// - Parameter held: the current channels of each group, by the key of the group's record.
    /// - Throws: `.malformed` when the groups have too many channels.
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
