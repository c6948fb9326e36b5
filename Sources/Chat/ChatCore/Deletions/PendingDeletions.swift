import ChatModel
import Locking

/// The deleted channels with records of memberships or restrictions that are not removed yet. These records are hidden
/// from all readers.
///
/// The list is nearly always empty. An entry that remains too long does no harm, because it hides only records that are
/// older than the deletion. A completed deletion continues to hide records. Otherwise, a caller that read a record just
/// before its removal would use the record. At least the 1,024 most recently completed deletions are stored for this
/// purpose.
final class PendingDeletions: Sendable {
    private struct State: Sendable {
        var pending: [ChannelID: Timetoken] = [:]
        var completed = GenerationCache<ChannelID, Timetoken>(capacity: 2048)

        mutating func complete(_ channel: ChannelID) {
            if let since = pending.removeValue(forKey: channel) { completed.insert(since, for: channel) }
        }
    }

    let mirror: RecordMirror
    private let state = Lock(State())
    /// Signals that a deleted channel has records to remove.
    let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(directory: any Directory) {
        mirror = RecordMirror([.sweep], of: directory)
    }

    /// Reads the deletions that are not completed. Must finish before the first request.
    func load(_ apps: [AppID]) async throws(ChatError) {
        for app in apps { try await mirror.load(.sweep, in: app, update) }
    }

    /// Adds the channels that are deleted on any node, until cancelled or until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, update) }

    /// Adds the deleted channels of a commit that this node has made, and removes the channels whose deletion the
    /// commit completes. Must be called before the next request is processed.
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
        guard let sweep else { return complete(channel) }
        state.withLock { $0.pending[channel] = sweep.since }
        changeSignal.continuation.yield()
    }

    /// Returns true when a deleted channel with this name still has records to remove.
    func concern(_ channel: ChannelID) -> Bool { state.withLock { $0.pending[channel] != nil } }

    /// Returns true when a record that last changed at `updated` belongs to a deleted channel with this name, and not
    /// to a newer channel with the same name.
    func hide(_ updated: Timetoken, of channel: ChannelID) -> Bool {
        state.withLock { state in
            (state.pending[channel] ?? state.completed.value(of: channel)).map { updated <= $0 } ?? false
        }
    }

    var pending: [ChannelID] { state.withLock { Array($0.pending.keys) } }

    /// Removes a channel from the pending deletions. Does nothing when the deletion of the channel is not pending.
    func complete(_ channel: ChannelID) { state.withLock { $0.complete(channel) } }
}

extension PendingDeletions {
    func hide(_ membership: MembershipRecord, in app: AppID) -> Bool {
        hide(membership.updated, of: ChannelID(membership.channel, in: app))
    }

    func hide(_ restriction: RestrictionRecord, in app: AppID) -> Bool {
        hide(restriction.updated, of: ChannelID(restriction.channel, in: app))
    }
}
