import ChatModel
import Locking

/// The channels that are deleted and not yet swept: what they have left is kept from everybody.
///
/// Nearly always empty. An entry that stays too long does no harm, since it hides only what is older than the deletion.
final class PendingDeletions: Sendable {
    private let mirror: RecordMirror
    private let directory: any Directory
    private let channels = Lock<[ChannelID: Timetoken]>([:])
    /// Says that there is something to sweep.
    let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(directory: any Directory) {
        self.directory = directory
        mirror = RecordMirror([.sweep], of: directory)
    }

    /// Finds what was left to be done when the gateway last stopped. Before the first request.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load(_ apps: [AppID]) async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in apps { try await mirror.load(.sweep, in: app, take) }
        return revision
    }

    /// Hears of channels that are deleted on any node, until cancelled or until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, take) }

    /// Takes note of what was written here: it counts before the next request.
    func note(_ changes: [RecordChange]) {
        for change in changes where change.key.kind == .sweep {
            take(
                change.key,
                change.body.map { Record(key: change.key, body: $0, etag: "", updated: .zero) })
        }
    }

    private func take(_ key: RecordKey, _ record: Record?) {
        let channel = ChannelID(key.id, in: key.app)
        let sweep = record.flatMap { CascadeDeletionRecord($0) }
        channels.withLock { $0[channel] = sweep?.since }
        if sweep != nil { news.continuation.yield() }
    }

    /// Whether something is left of a former channel of this name.
    func concern(_ channel: ChannelID) -> Bool { channels.withLock { $0[channel] != nil } }

    /// Whether a record of that age belongs to a former channel of this name.
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
