public import ChatModel

/// Where committed events meet subscribers: each event is matched once per feed, in log order.
///
/// An actor on the executor it is handed, which for a gateway is the streaming loop: what follows from a commit happens
/// in one turn of that loop, and code that is already there enters with `assumeIsolated`.
public actor Hub {
    /// What is handed out in one turn at most. A commit may hold thousands of events, and everything else on the
    /// executor waits meanwhile; byte logs of streams also want to be sent before they are overwritten.
    private enum Turn {
        static let events = 256
        static let weight = 256 * 1024
    }
    private let turnTime: Duration
    private let activity: ChannelActivity

    let log: any EventLog
    private let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Everything up to here has been handed to the feeds; later events will be. Means something while `isRunning`.
    public private(set) var position: Timetoken = .zero
    /// The same for each app that had an event since the start.
    private var positions: [AppID: Timetoken] = [:]
    private var start: Timetoken = .zero
    /// Whether committed events reach the feeds. Nobody may attach before: what was committed until then would neither
    /// be read from the store nor handed out.
    public private(set) var isRunning = false

    private var feeds: [Selection: Feed] = [:]
    var index = FeedIndex()
    /// The users as whom streams listen.
    var listenerIndex = ListenerIndex()
    var moveObservers: [@Sendable (UserID) -> Void] = []
    private var audienceSnapshot = AudienceChanges()
    private var hearingObservers: [@Sendable (Event) -> Void] = []
    /// Feeds with events of the running turn. A member, so that its memory is used again.
    private var touched: [Feed] = []
    /// The next event, while its filters take more than one turn. Nothing of it has been handed out.
    private var trial: FeedMatching?
    private var waiters: [(target: Timetoken, continuation: CheckedContinuation<Bool, Never>)] = []

    init(log: any EventLog, executor: any SerialExecutor, turnTime: Duration, activity: ChannelActivity) {
        self.log = log
        self.activity = activity
        index.activity = activity
        self.turnTime = turnTime
        self.executor = executor
    }

    /// Hands out commits until cancelled or until the engine closes.
    func run(whenReady: @Sendable () -> Void) async throws(ChatError) {
        defer { stopped() }
        let commits = await log.committed()
        // Commits between the line above and the next come by the sequence too: `handOut` drops what lies below.
        position = try await log.watermark(of: .gateway)
        start = position
        isRunning = true
        whenReady()
        for await commit in commits { await publish(commit) }
    }

    private func stopped() {
        isRunning = false
        for waiter in waiters { waiter.continuation.resume(returning: false) }
        waiters = []
    }
}

// MARK: - For subscribers

extension Hub {
    /// Attaches a sink to the feed of a selection. From this moment it gets every event above `position`.
    public func attach(_ sink: any FeedSink, to selection: Selection) {
        feed(for: selection).attach(sink)
    }

    /// Detaches; the feed goes with its last sink.
    public func detach(_ sink: any FeedSink, from selection: Selection) {
        guard let feed = feeds[selection] else { return }
        feed.detach(sink)
        guard feed.isEmpty else { return }
        feeds[selection] = nil
        index.remove(feed)
        if let viewer = selection.viewer { leave(feed, viewer) }
    }

    /// Returns true once `position` has come to `target`, false when the hub is not running or stops before.
    ///
    /// Whoever was told a position by the log may be ahead of the hub for a moment: the poster of an event knows its
    /// timetoken before the hub has seen the commit. Joining the live side before that moment is over would hand such a
    /// reader the event again.
    public func reach(_ target: Timetoken) async -> Bool {
        guard isRunning, position < target else { return isRunning }
        return await withCheckedContinuation { continuation in
            // Once more: a commit may have had its turn on the way here, and nobody would wake this one before the next.
            if isRunning, position < target {
                waiters.append((target, continuation))
            } else {
                continuation.resume(returning: isRunning)
            }
        }
    }

    /// The sinks an event would reach now, for dry runs.
    public func reach(of event: Event) async -> [any FeedSink] {
        var trial = FeedMatching(event)
        while true {
            if let feeds = index.feeds(for: &trial, until: .now + turnTime) { return feeds.flatMap(\.allSinks) }
            await Task.yield()
        }
    }

    /// Everything of an app up to here has been handed to the feeds; later events of it will be. Moves with events of the app
    /// alone, so that it may be shown to the app.
    public func position(of app: AppID) -> Timetoken { positions[app] ?? start }

    public var feedCount: Int { feeds.count }

    /// Calls an observer on the hub's executor behind each event that changes who may hear its channel (a ban and its end,
    /// a member who leaves, a channel that is made or changed): every feed has what the event brings, and none has been
    /// given the next event.
    public func observeHearing(_ observer: @escaping @Sendable (Event) -> Void) { hearingObservers.append(observer) }

    /// How many such events have been handed out: to be read before somebody is asked for the right to hear.
    public var audienceChanges: UInt64 { audienceSnapshot.count }

    /// Whether such an event was handed out since, on one of the channels: then who was asked has to be asked again.
    public func mayHearDifferently(_ channels: ChannelSet, since changes: UInt64) -> Bool {
        audienceSnapshot.touch(channels, since: changes)
    }

    private func feed(for selection: Selection) -> Feed {
        if let known = feeds[selection] { return known }
        let feed = Feed(selection)
        feeds[selection] = feed
        selection.viewer?.userMemberships.attach(feed)
        index.insert(feed)
        return feed
    }
}

// MARK: - Handing out

extension Hub {
    private func publish(_ commit: Commit) async {
        var rest = commit.events[...]
        repeat {
            let end = handOut(Self.turn(of: rest), of: commit)
            rest = rest[end...]
            if !rest.isEmpty { await Task.yield() }
        } while !rest.isEmpty
    }

    /// The next events that go together: at least one.
    private static func turn(of events: ArraySlice<Event>) -> ArraySlice<Event> {
        var weight = 0
        var end = events.startIndex
        while end < events.endIndex, end - events.startIndex < Turn.events, weight < Turn.weight {
            weight += events[end].draft.weight
            end += 1
        }
        return events[..<end]
    }

    /// - Returns: the index behind the last event that was handed out. Without any, filters of the first are still to be tried.
    private func handOut(_ events: ArraySlice<Event>, of commit: Commit) -> Int {
        let seen = position
        var end = events.endIndex
        // Without a feed there may be a viewer for whom one is being made.
        let isHeard = !feeds.isEmpty || !listenerIndex.isEmpty
        let deadline = ContinuousClock.now + turnTime
        var change: Event?
        for index in events.indices where events[index].timetoken > seen {
            guard !isHeard || match(events[index], until: deadline) else {
                end = index
                break
            }
            note(events[index])
            // Nobody is given the next event before it is settled who may hear it.
            if AudienceChanges.include(events[index]) { change = events[index] }
            guard change != nil || index + 1 < end && isHeard && ContinuousClock.now >= deadline else { continue }
            end = index + 1
            break
        }
        let isAll = end == commit.events.endIndex
        if isAll {
            position = max(seen, commit.watermark)
        } else if end > 0 {
            position = max(seen, commit.events[end - 1].timetoken)
        }
        for feed in touched { feed.flush() }
        touched.removeAll(keepingCapacity: true)
        if let change {
            audienceSnapshot.note(change)
            for observer in hearingObservers { observer(change) }
        }
        if !waiters.isEmpty { wake() }
        return end
    }

    private func note(_ event: Event) {
        positions[event.channel.app] = event.timetoken
        activity.note(event)
    }

    /// Those of the users who have a stream, poll or listener that names `channel.activity`.
    func namingActivity(_ users: [UserID]) -> Set<UserID> {
        Set(
            users.filter { user in
                listenerIndex.userMemberships(of: ExactText(user.name), in: user.app)?.feeds.contains {
                    $0.selection.namesActivity
                }
                    ?? false
            })
    }

    /// Hands an event to the feeds that want it; false when the time is over before all of them were asked, and nothing was
    /// handed out.
    private func match(_ event: Event, until deadline: ContinuousClock.Instant) -> Bool {
        var trial = self.trial.flatMap { $0.event.timetoken == event.timetoken ? $0 : nil } ?? FeedMatching(event)
        self.trial = nil
        guard let feeds = index.feeds(for: &trial, until: deadline) else {
            self.trial = trial
            return false
        }
        if listenerIndex.isEmpty { distribute(event, feeds) } else { distributeAmongViewers(&trial, feeds) }
        return true
    }

    func distribute(_ event: Event, _ feeds: [Feed]) {
        for feed in feeds { give(event, to: feed) }
    }

    func give(_ event: Event, to feed: Feed) {
        if feed.add(event) { touched.append(feed) }
    }

    private func wake() {
        for waiter in waiters where waiter.target <= position { waiter.continuation.resume(returning: true) }
        waiters.removeAll { $0.target <= position }
    }
}

/// The events the hub has handed out after which somebody may hear a channel no more, or again. The last ones by their
/// channels: who was asked whether a user may hear something learns whether that still holds.
struct AudienceChanges {
    /// How many are known by their channels.
    private static let held = 256

    /// How many there were since the start.
    private(set) var count: UInt64 = 0
    private var channels: [ChannelID] = []

    private static let types: Set<String> = [
        "user.banned", "user.unbanned", "member.left", "channel.created", "channel.updated",
    ]

    /// Whether the event is one. What clients publish in the same words has no such audience.
    static func include(_ event: Event) -> Bool {
        guard case .rule = event.audience else { return false }
        return types.contains(event.type)
    }

    mutating func note(_ event: Event) {
        let place = Int(count % UInt64(Self.held))
        if place < channels.count { channels[place] = event.channel } else { channels.append(event.channel) }
        count += 1
    }

    /// Whether any since `earlier` was on one of the channels; true where nobody knows.
    func touch(_ wanted: ChannelSet, since earlier: UInt64) -> Bool {
        guard count > earlier else { return false }
        guard count - earlier <= UInt64(Self.held) else { return true }
        return (earlier..<count).contains { wanted.contains(channels[Int($0 % UInt64(Self.held))]) }
    }
}
