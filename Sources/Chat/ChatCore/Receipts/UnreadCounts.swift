import ChatModel
import JSON
import Locking

/// The unread counts of users, held for users who were requested recently and for watched users.
///
/// A committed message adds one for each holder who has joined its channel. Any other change of a channel (a mark
/// moves, a member leaves, a message is deleted) makes the channel *stale* for its holders, and the next request counts
/// it again in the log. Counts are never decremented, so they cannot drift.
actor UnreadCounts {
    struct Holder: Sendable {
        var channels: [ExactText: UnreadChannel] = [:]
        var isLoaded = false
        var watchers = 0
        /// True when a device of the user has selected `channel.activity` by name while the user was watched.
        var followsActivity = false
        /// The number of requests that wait for the counts; the holder stays in memory meanwhile.
        var asking = 0
        /// True when the next notification is due even if the user is not watched.
        var isOwed = false
        /// The counts that the user's devices received last.
        var reported: Unread?
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
    /// The users among the given ones who follow `channel.activity` now.
    let following: @Sendable ([UserID]) async -> Set<UserID>
    private let capacity: Int
    private enum Phase { case idle, running, over }
    private(set) var position = Timetoken.zero
    private var phase = Phase.idle
    private let need = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Signals that `untold` is not empty.
    let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var holders: [UserID: Holder] = [:]
    /// The users for whom a count is running, with the tasks that wait for it.
    var counting: [UserID: [CheckedContinuation<Void, Never>]] = [:]
    /// The number of channels of all holders, checked on each use.
    private var channelsHeld = 0
    /// The holders who may have joined a channel.
    var audience: [ChannelID: Set<UserID>] = [:]
    /// The users whose counts may differ from those that their devices received.
    var untold: Set<UserID> = [] {
        didSet { if !untold.isEmpty { changeSignal.continuation.yield() } }
    }
    private let waiters = PositionWaiters<Timetoken>()
    private var uses: UInt64 = 0
    /// False while every holder is known to be in use, so that the search for unused ones is not repeated.
    private var mayHaveIdle = true

    init(
        engine: any Engine, pendingDeletions: PendingDeletions, limits: Limits, clock: WallClock,
        following: @escaping @Sendable ([UserID]) async -> Set<UserID>
    ) {
        self.clock = clock
        self.following = following
        log = engine.log
        directory = engine.directory
        self.pendingDeletions = pendingDeletions
        capacity = limits.unreadChannelsHeld
    }

    // MARK: Following the log

    /// Processes commits until cancelled or until the engine closes. Begins with the first count; until then a commit
    /// costs nothing here.
    func run() async {
        defer { stopped() }
        for await _ in need.stream { break }
        let commits = await log.committed()
        guard let begin = try? await log.watermark(of: .gateway) else { return }
        position = begin
        phase = .running
        waiters.resume(through: position)
        for await commit in commits {
            for event in commit.events { count(event) }
            position = max(position, commit.watermark)
            waiters.resume(through: position)
        }
    }

    private func count(_ event: Event) {
        guard !audience.isEmpty, let users = audience[event.channel] else { return }
        switch event.type {
        case BuiltInTypes.messageCreated: if event.retention == .kept { add(event, to: users) }
        case "message.deleted", "channel.events_deleted": makeStale(event.channel, for: users)
        case "message.updated": if Self.isUndone(event) { makeStale(event.channel, for: users) }
        default: break
        }
    }

    /// True when a deletion or an edit was undone.
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

    /// Waits until everything up to a position was processed; false when this is not running.
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
    }

    // MARK: Holders

    /// Marks changed records. Must be called before any event of the change is sent.
    func changed(_ keys: [RecordKey]) {
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

    /// Records the use of a holder, and removes the least recently used ones when too many are held: a tenth more than
    /// necessary, so that not every use searches all of them.
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

    /// Ends one use of a holder, which may be removed from then on.
    func becameIdle() { mayHaveIdle = true }

    private func drop(_ user: UserID) {
        for channel in holders[user]?.channels.keys.map({ $0 }) ?? [] {
            release(ChannelID(channel.text, in: user.app), of: user)
        }
        holders[user] = nil
        untold.remove(user)
    }
}

/// The number of messages that a user has not read.
public struct Unread: Sendable, Equatable {
    /// The number over all channels that count: those that the user has joined and not hidden permanently.
    public var total = 0
    /// The counts by the channels' custom types. Channels without a custom type are only part of the total.
    public var byCustomType: [String: Int] = [:]

    /// No unread messages.
    init() {}
}

/// The unread state of one channel for one user.
struct UnreadChannel: Sendable {
    /// True when the channel's messages count: the user has joined it and has not hidden it permanently.
    var counts = false
    var customType: String?
    /// The position after which messages count.
    var since = Timetoken.zero
    /// Unread messages counted in the log, and those that arrived since.
    var counted = 0
    var added = 0
    /// True when the channel must be counted again before any notification.
    var isStale = true
    /// The count of the last `channel.activity`, and the time from which the next may be sent.
    var reported: Int?
    var due = Timetoken.zero
    /// The number of times that it became stale. A count during which this changes is discarded.
    var turns = 0

    var unread: Int { counts ? counted + added : 0 }

    mutating func markStale() {
        isStale = true
        turns += 1
    }
}
