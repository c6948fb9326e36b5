import ChatModel
import Locking

/// The deleted channels whose remaining records are not removed yet. These records are hidden from every reader.
///
/// Nearly always empty. An entry that stays too long is harmless, because it hides only records older than the
/// deletion.
final class PendingDeletions: Sendable {
    private let mirror: RecordMirror
    private let directory: any Directory
    private let channels = Lock<[ChannelID: Timetoken]>([:])
    /// Signals that there are records to remove.
    let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(directory: any Directory) {
        self.directory = directory
        mirror = RecordMirror([.sweep], of: directory)
    }

    /// Reads the pending deletions of the gateway's last run. Must run before the first request.
    ///
    /// - Returns: the revision from which `follow` continues.
    func load(_ apps: [AppID]) async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in apps { try await mirror.load(.sweep, in: app, update) }
        return revision
    }

    /// Adds channels that are deleted on any node, until cancelled or until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, update) }

    /// Adds the deletions in a write of this node, before the next request.
    func record(_ changes: [RecordChange]) {
        for change in changes where change.key.kind == .sweep {
            update(
                change.key,
                change.body.map { Record(key: change.key, body: $0, etag: "", updated: .zero) })
        }
    }

    private func update(_ key: RecordKey, _ record: Record?) {
        let channel = ChannelID(key.id, in: key.app)
        let sweep = record.flatMap { CascadeDeletionRecord($0) }
        channels.withLock { $0[channel] = sweep?.since }
        if sweep != nil { changeSignal.continuation.yield() }
    }

    /// True when records of a deleted channel of this name remain.
    func concern(_ channel: ChannelID) -> Bool { channels.withLock { $0[channel] != nil } }

    /// True when a record with that time belongs to a deleted channel of this name.
    func hide(_ updated: Timetoken, of channel: ChannelID) -> Bool {
        channels.withLock { channels in channels[channel].map { updated <= $0 } ?? false }
    }

    var pending: [ChannelID] { channels.withLock { Array($0.keys) } }

    func forget(_ channel: ChannelID, since: Timetoken) {
        channels.withLock { if let known = $0[channel], known <= since { $0[channel] = nil } }
    }
}

extension PendingDeletions {
    func hide(_ membership: MembershipRecord, in app: AppID) -> Bool {
        hide(membership.updated, of: ChannelID(membership.channel, in: app))
    }

    func hide(_ restriction: RestrictionRecord, in app: AppID) -> Bool {
        hide(restriction.updated, of: ChannelID(restriction.channel, in: app))
    }
}
