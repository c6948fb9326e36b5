import ChatModel
import JSON

/// What users have not read, held for those who were asked for lately and for those who are watched.
///
/// A message that commits adds one for each holder who has joined its channel. Whatever else happens to a channel (a mark
/// moves, a member leaves, a message is deleted) makes it *stale* for its holders, and it is counted in the log again
/// when next asked for: nothing is taken away by reckoning, so nothing can drift.
actor UnreadCounts {
    struct Holder: Sendable {
        var channels: [ExactText: UnreadChannel] = [:]
        var isLoaded = false
        var watchers = 0
        /// Whether a device of the user has named `channel.activity` while the user was watched.
        var followsActivity = false
        /// Who is waiting for its numbers: it cannot be let go meanwhile.
        var asking = 0
        /// To be told once, watched or not.
        var isOwed = false
        /// What the user's devices were told last.
        var told: Unread?
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
    /// Which of these users follow `channel.activity` now.
    let following: @Sendable ([UserID]) async -> Set<UserID>
    private let capacity: Int
    private enum Phase { case idle, running, over }
    private(set) var position = Timetoken.zero
    private var phase = Phase.idle
    private var starters: [CheckedContinuation<Void, Never>] = []
    private let need = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Says that `untold` is not empty.
    let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var holders: [UserID: Holder] = [:]
    /// For whom somebody counts now, and who waits for that.
    var counting: [UserID: [CheckedContinuation<Void, Never>]] = [:]
    /// The channels of all holders, counted: asked at each use.
    private var channelsHeld = 0
    /// Who of them might have joined a channel.
    var audience: [ChannelID: Set<UserID>] = [:]
    /// Whose sum may differ from what their devices were told.
    var untold: Set<UserID> = [] {
        didSet { if !untold.isEmpty { news.continuation.yield() } }
    }
    private var waiters: [(target: Timetoken, continuation: CheckedContinuation<Bool, Never>)] = []
    private var uses: UInt64 = 0
    /// False while all that is held is known to be in use: too much of it is not looked for again and again.
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

    /// Takes what commits, until cancelled or until the engine closes. Begins when somebody is first counted for: before
    /// that a commit costs nothing here.
    func run() async {
        defer { stopped() }
        for await _ in need.stream { break }
        let commits = await log.committed()
        guard let begin = try? await log.watermark(of: .gateway) else { return }
        position = begin
        phase = .running
        start()
        for await commit in commits {
            for event in commit.events { take(event) }
            position = max(position, commit.watermark)
            wake()
        }
    }

    private func take(_ event: Event) {
        guard !audience.isEmpty, let users = audience[event.channel] else { return }
        switch event.type {
        case BuiltInTypes.messageCreated: if event.retention == .kept { add(event, to: users) }
        case "message.deleted", "channel.events_deleted": makeStale(event.channel, for: users)
        case "message.updated": if Self.isUndone(event) { makeStale(event.channel, for: users) }
        default: break
        }
    }

    /// Whether a deletion, or an edit, was taken back.
    private static func isUndone(_ event: Event) -> Bool {
        (try? JSONDocument(event.data))?.root["undone"] != nil  // what cannot be read undoes nothing
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
            holders[user]?.channels[ExactText(channel.name)]?.becomeStale()
            untold.insert(user)
        }
    }

    /// Waits until everything up to a position has been taken; false when the board is not running.
    func reach(_ target: Timetoken) async -> Bool {
        if phase == .idle {
            need.continuation.yield()
            await withCheckedContinuation { starter in
                // Others may have had a turn on the way here.
                if phase == .idle { starters.append(starter) } else { starter.resume() }
            }
        }
        guard phase == .running, position < target else { return phase == .running }
        return await withCheckedContinuation { waiter in
            guard phase == .running, position < target else { return waiter.resume(returning: phase == .running) }
            waiters.append((target, waiter))
        }
    }

    private func start() {
        for starter in starters { starter.resume() }
        starters = []
    }

    private func wake() {
        for waiter in waiters where waiter.target <= position { waiter.continuation.resume(returning: true) }
        waiters.removeAll { $0.target <= position }
    }

    private func stopped() {
        phase = .over
        start()
        for waiter in waiters { waiter.continuation.resume(returning: false) }
        waiters = []
    }

    // MARK: Holding

    /// Takes note that records have changed: to be called before anybody is told.
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

    /// Notes the use of a holder, and lets those go that were used longest ago when too much is held: a tenth more than is
    /// needed, so that not every use looks through all.
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

    /// One use is over: its holder may be let go.
    func becameIdle() { mayHaveIdle = true }

    private func drop(_ user: UserID) {
        for channel in holders[user]?.channels.keys.map({ $0 }) ?? [] {
            release(ChannelID(channel.text, in: user.app), of: user)
        }
        holders[user] = nil
        untold.remove(user)
    }
}

/// How much a user has not read yet.
public struct Unread: Sendable, Equatable {
    public var total = 0
    /// By the channels' custom types; those of channels without one are in the total alone.
    public var byCustomType: [String: Int] = [:]

    public init() {}
}

/// One channel as one user has yet to read it.
struct UnreadChannel: Sendable {
    /// Whether its messages count: the user has joined it, and has not hidden it for good.
    var counts = false
    var customType: String?
    /// Messages up to here are not looked at.
    var since = Timetoken.zero
    /// Unread among those up to where they were counted, and those that came after it.
    var counted = 0
    var added = 0
    /// Has to be counted again before anybody is told.
    var isStale = true
    /// The number that `channel.activity` told last, and when it may tell the next.
    var told: Int?
    var due = Timetoken.zero
    /// How often it became stale: what is counted meanwhile counts for nothing.
    var turns = 0

    var unread: Int { counts ? counted + added : 0 }

    mutating func becomeStale() {
        isStale = true
        turns += 1
    }
}
