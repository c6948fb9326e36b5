import ChatModel
import JSON
import Locking

/// The unread counts of users, in memory for watched users and for users whose counts were requested recently. Such a
/// user is called a *holder*.
///
/// A committed message adds one to the count of each holder who has joined the message's channel. Any other change (a
/// mark moves, a member leaves, a message is deleted) makes the channel *stale* for its holders: the next request
/// counts the channel again in the event log. Counts are never decremented, so they cannot become wrong over time.
actor UnreadCounts {
    struct Holder: Sendable {
        var channels: [ExactText: UnreadChannel] = [:]
        var isLoaded = false
        var watchers = 0
        /// True when a device of the watched user has selected `channel.activity` by name.
        var followsActivity = false
        /// The number of requests that wait for the user's unread counts. While it is not zero, the counts stay in
        /// memory.
        var asking = 0
        /// True when the next notification must be sent even if the user is not watched.
        var isOwed = false
        /// The unread counts that the user's devices last received; nil before the first notification.
        var reported: Unread?
        /// The timetoken of the last `unread_count.updated` event for the user, from any node; zero before the first.
        var lastReport = Timetoken.zero
        var lastUse: UInt64 = 0

        var sum: Unread {
            var sum = Unread()
            for channel in channels.values where channel.unread > 0 {
                sum.total += channel.unread
                if let type = channel.customType { sum.byCustomType[type, default: 0] += channel.unread }
            }
            return sum
        }
    }

    let log: any EventLog
    let directory: any Directory
    let pendingDeletions: PendingDeletions
    let clock: WallClock
    /// True if other nodes report the counts of the same users.
    let isShared: Bool
    /// Returns the given users who follow `channel.activity` now.
    let following: @Sendable ([UserID]) async -> Set<UserID>
    private let capacity: Int
    private enum Phase { case idle, running, over }
    private(set) var position = Timetoken.zero
    /// The revision of the directory of records up to which changed records were processed. Valid while running.
    private var recordPosition: Revision = 0
    private var phase = Phase.idle
    private let need = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Signals that there are users to notify of new unread counts (`untold`).
    let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var holders: [UserID: Holder] = [:]
    /// The users for whom a count is running, with the tasks that wait for it.
    var counting: [UserID: [CheckedContinuation<Void, Never>]] = [:]
    /// The number of channels with an unread count in memory, summed over all users. Together with the number of users,
    /// it is checked against `capacity` on each use.
    private var channelsHeld = 0
    /// By channel, the users whose unread count of the channel is in memory.
    var audience: [ChannelID: Set<UserID>] = [:]
    /// The users whose counts may differ from those that their devices last received.
    var untold: Set<UserID> = [] {
        didSet { if !untold.isEmpty { changeSignal.continuation.yield() } }
    }
    private let waiters = PositionWaiters<Timetoken>()
    private let recordWaiters = PositionWaiters<Revision>()
    private var uses: UInt64 = 0
    /// False while the unread counts of all users in memory are known to be in use. The search for unused counts is
    /// then skipped.
    private var mayHaveIdle = true

    init(
        engine: any Engine, pendingDeletions: PendingDeletions, limits: Limits, clock: WallClock,
        following: @escaping @Sendable ([UserID]) async -> Set<UserID>
    ) {
        self.clock = clock
        self.following = following
        log = engine.log
        directory = engine.directory
        isShared = directory.isShared
        self.pendingDeletions = pendingDeletions
        capacity = limits.unreadChannelsHeld
    }

    // MARK: Following the log

    /// Processes commits and changed records of all nodes until cancelled or until the engine closes. Starts with the
    /// first request for a count. Before that, nothing is processed at all.
    func run() async {
        defer { stopped() }
        for await _ in need.stream { break }
        // The commits begin before the position is read, so none is missed.
        let commits = await log.committed()
        guard let revision = await readPositions() else { return }
        phase = .running
        waiters.resume(through: position)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followRecords(from: revision) }
            for await commit in commits {
                for event in commit.events { count(event) }
                position = max(position, commit.watermark)
                waiters.resume(through: position)
            }
            group.cancelAll()
        }
    }

    /// Reads the positions at which the processing begins, and tries again while the store cannot be read. Returns nil
    /// when the task is cancelled.
    private func readPositions() async -> Revision? {
        while !Task.isCancelled {
            do throws(ChatError) {
                let revision = try await directory.revision()
                (position, recordPosition) = (try await log.watermark(of: .gateway), revision)
                return revision
            } catch {
                // If the task was cancelled, the loop's condition ends the loop.
                try? await Task.sleep(for: .seconds(1))
            }
        }
        return nil
    }

    private func followRecords(from revision: Revision) async {
        for await changes in await directory.changes(after: revision) {
            changed(changes.keys)
            recordPosition = changes.revision
            recordWaiters.resume(through: recordPosition)
        }
    }

    private func count(_ event: Event) {
        if isShared { hear(event) }
        guard !audience.isEmpty, let users = audience[event.channel] else { return }
        switch event.type {
        case BuiltInTypes.messageCreated: if event.retention == .kept { add(event, to: users) }
        case "message.deleted", "channel.events_deleted": makeStale(event.channel, for: users)
        case "message.updated": if Self.isUndone(event) { makeStale(event.channel, for: users) }
        default: break
        }
    }

    /// Returns true when the event undid a deletion or an edit.
    private static func isUndone(_ event: Event) -> Bool {
        (try? JSONDocument(event.data))?.root["undone"] != nil  // unreadable data undoes nothing
    }

    private func add(_ event: Event, to users: Set<UserID>) {
        let (channel, sender) = (ExactText(event.channel.name), event.user.map { ExactText($0) })
        for user in users where ExactText(user.name) != sender {
            guard let since = holders[user]?.channels[channel]?.since, since < event.timetoken else { continue }
            holders[user]?.channels[channel]?.added += 1
            untold.insert(user)
        }
    }

    func makeStale(_ channel: ChannelID, for users: some Sequence<UserID>) {
        for user in users {
            holders[user]?.channels[ExactText(channel.name)]?.markStale()
            untold.insert(user)
        }
    }

    /// Waits until all events of some apps, and all changes of records, that any node committed before this call were
    /// processed.
    ///
    /// - Throws: `.unavailable` when the processing has stopped; the errors of the store.
    func reachNewest(of apps: Set<AppID>) async throws(ChatError) {
        let revision = try await directory.revision()
        for app in apps {
            guard await reach(try await log.watermark(of: app)) else { throw .notListening }
        }
        guard recordPosition < revision else { return }
        guard await recordWaiters.wait(for: revision) else { throw .notListening }
    }

    /// Waits until all events in the event log up to the timetoken `target` were processed. Returns false when the
    /// processing has stopped.
    func reach(_ target: Timetoken) async -> Bool {
        switch phase {
        case .over: return false
        case .running where position >= target: return true
        case .running: break
        case .idle: need.continuation.yield()
        }
        return await waiters.wait(for: target)
    }

    private func stopped() {
        phase = .over
        waiters.endAll()
        recordWaiters.endAll()
    }

    // MARK: Holders

    /// Marks the unread counts of channels as stale (outdated) after records of memberships or of the channels changed.
    /// The next request counts these channels again.
    private func changed(_ keys: [RecordKey]) {
        guard !holders.isEmpty else { return }
        for key in keys {
            switch key.kind {
            case .membership:
                guard let (user, channel) = key.userAndChannel, holders[user] != nil else { continue }
                hold(channel, for: user)
                makeStale(channel, for: [user])
            case .channel:
                let channel = ChannelID(key.id, in: key.app)
                makeStale(channel, for: audience[channel] ?? [])
            default: break
            }
        }
    }

    func hold(_ channel: ChannelID, for user: UserID) {
        guard let holder = holders[user], holder.channels[ExactText(channel.name)] == nil else { return }
        holders[user]?.channels[ExactText(channel.name)] = UnreadChannel()
        channelsHeld += 1
        audience[channel, default: []].insert(user)
    }

    func release(_ channel: ChannelID, of user: UserID) {
        guard holders[user]?.channels.removeValue(forKey: ExactText(channel.name)) != nil else { return }
        channelsHeld -= 1
        audience[channel]?.remove(user)
        if audience[channel]?.isEmpty ?? false { audience[channel] = nil }
    }

    /// Records the use of a user's unread counts. If the counts of too many users and channels are in memory, removes
    /// the counts of the least recently used users. Removes a tenth more than necessary, so that the next uses need no
    /// search.
    func use(_ user: UserID) {
        uses += 1
        holders[user, default: Holder()].lastUse = uses
        guard mayHaveIdle, holders.count + channelsHeld > capacity else { return }
        mayHaveIdle = false
        let idle = holders.filter { $0.value.watchers == 0 && $0.value.asking == 0 }
        for oldest in idle.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard holders.count + channelsHeld > capacity - capacity / 10 else {
                mayHaveIdle = true
                return
            }
            drop(oldest.key)
        }
    }

    /// Records that the unread counts of some user may be no longer in use, and may be removed from memory.
    func becameIdle() { mayHaveIdle = true }

    private func drop(_ user: UserID) {
        for channel in holders[user]?.channels.keys.map({ $0 }) ?? [] {
            release(ChannelID(channel.text, in: user.app), of: user)
        }
        holders[user] = nil
        untold.remove(user)
    }
}

/// The numbers of messages that a user has not read.
public struct Unread: Sendable, Equatable {
    /// The number of unread messages in all channels that the user has joined and not hidden permanently.
    public var total = 0
    /// The numbers of unread messages by the custom type of their channel. Channels without a custom type count only in
    /// `total`.
    public var byCustomType: [String: Int] = [:]

    /// Creates counts of zero.
    init() {}
}

/// The unread state of one channel for one user.
struct UnreadChannel: Sendable {
    /// True when the channel's messages count as unread: the user has joined the channel and has not hidden it
    /// permanently.
    var counts = false
    var customType: String?
    /// The timetoken after which messages count as unread.
    var since = Timetoken.zero
    /// The number of unread messages that were counted in the event log.
    var counted = 0
    /// The number of messages that arrived after the count.
    var added = 0
    /// True when the messages of the channel must be counted again before the next notification.
    var isStale = true
    /// The unread count in the last `channel.activity` event; nil before the first event, and after such events were
    /// stopped.
    var reported: Int?
    /// The earliest time of the next `channel.activity` event.
    var due = Timetoken.zero
    /// The timetoken of the last `channel.activity` event, from any node; zero before the first.
    var lastReport = Timetoken.zero
    /// The number of times that the channel became stale. The result of a count is discarded if this number changed
    /// during the count.
    var turns = 0

    var unread: Int { counts ? counted + added : 0 }

    mutating func markStale() {
        isStale = true
        turns += 1
    }
}
