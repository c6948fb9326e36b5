public import ChatModel
import Locking

/// Distributes committed events to subscribers, in the order of the event log. Each event is matched once per feed; a
/// feed is all subscribers with the same selection.
///
/// The hub is an actor that runs on a given executor. In the gateway, this is the loop of the HTTP server. Code that
/// already runs on that loop enters the actor with `assumeIsolated`.
public actor Hub {
    /// The limits of one iteration: a step in which the hub distributes events without suspending. A commit may contain
    /// thousands of events, and all other work on the executor waits during an iteration. The buffered output of
    /// streams must also be sent before it is overwritten.
    private enum Turn {
        static let events = 256
        static let weight = 256 * 1024
    }
    private let turnTime: Duration
    private let activity: ChannelActivity
    /// Counts the deletions of all nodes; nil if this node is the only one.
    private let deletions: DeletionCounter?

    let log: any EventLog
    private let executor: any ClosureExecutor
    /// The executor that was passed to the initializer.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The timetoken up to which all events were distributed to the feeds. Valid while `isRunning`.
    public private(set) var position: Timetoken = .zero
    /// The position of each app: the timetoken of its last distributed event. Apps without an event since the start are
    /// missing.
    private var positions: [AppID: Timetoken] = [:]
    private var start: Timetoken = .zero
    /// True when committed events are distributed to the feeds. While the value is false, no sink may be attached,
    /// because the sink would miss events that are already committed.
    public private(set) var isRunning = false

    private var feeds: [Selection: Feed] = [:]
    var index = FeedIndex()
    /// The users whose streams receive events.
    var listenerIndex = ListenerIndex()
    var moveObservers: [@Sendable (UserID) -> Void] = []
    private var recentAudienceChanges = AudienceChanges()
    private var audienceObservers: [@Sendable (Event) -> Void] = []
    private var commitObservers: [@Sendable (Commit?) -> Void] = []
    /// The feeds with events in the current iteration. A property, so that the memory of the array is reused.
    private var touched: [Feed] = []
    /// The matching of the next event, while evaluating its filters takes more than one iteration; nil at other times.
    /// The event was not yet distributed to any feed.
    private var matching: FeedMatching?
    private let waiters = PositionWaiters<Timetoken>()

    /// The commits that ``distributeNext()`` reads; nil while the task of ``run(whenReady:)`` reads them.
    private var commits: (any CommitsInMemory)?
    /// A commit that takes more than one iteration, with the events that are not distributed yet.
    private var unfinished: (commit: Commit, rest: ArraySlice<Event>)?
    /// Wakes the task of `run`.
    private let taskIsNeeded = AsyncSignal()

    init(
        log: any EventLog, executor: any ClosureExecutor, turnTime: Duration, activity: ChannelActivity,
        deletions: DeletionCounter? = nil
    ) {
        self.log = log
        self.deletions = deletions
        self.activity = activity
        index.activity = activity
        self.turnTime = turnTime
        self.executor = executor
    }

    /// Distributes committed events until cancelled or until the engine closes.
    ///
    /// The log calls the hub when there is a commit, and the hub distributes it without a task (`distributeNext`). The
    /// task of this function only distributes commits that take more than one iteration, and commits that are no longer
    /// in memory.
    func run(whenReady: @Sendable () -> Void) async throws(ChatError) {
        defer { stopped() }
        let sequence = await log.committed()
        // The sequence may already contain commits up to the watermark. `distribute` skips events at or below
        // `position`.
        position = try await log.watermark(of: .gateway)
        start = position
        isRunning = true
        whenReady()
        var iterator = sequence.makeAsyncIterator()
        while true {
            if let inMemory = sequence.inMemory {
                commits = inMemory
                awaitNext(in: inMemory)
                while commits != nil, !Task.isCancelled { await taskIsNeeded.wait() }
            }
            if let (commit, rest) = unfinished {
                unfinished = nil
                await distributeRest(rest, of: commit)
            } else {
                guard let commit = await iterator.next(isolation: self) else { return }
                await distributeRest(begin(commit), of: commit)
            }
        }
    }

    /// Arranges a call of ``distributeNext()``, on the executor, when there is another commit or the log is closed.
    private func awaitNext(in commits: any CommitsInMemory) {
        let call: @Sendable () -> Void = { [executor] in
            executor.post { self.assumeIsolated { $0.distributeNext() } }
        }
        if !commits.notify(call) { call() }
    }

    /// Distributes the next commit. Leaves a commit that is no longer in memory, and the rest of a large one, to the task
    /// of ``run(whenReady:)``.
    private func distributeNext() {
        guard isRunning, let commits else { return }
        guard let commit = commits.nextInMemory() else { return wakeTask() }
        let rest = begin(commit)
        if !rest.isEmpty {
            unfinished = (commit, rest)
            wakeTask()
        } else {
            awaitNext(in: commits)
        }
    }

    private func wakeTask() {
        commits = nil
        taskIsNeeded.send()
    }

    private func stopped() {
        isRunning = false
        commits = nil
        waiters.endAll()
        for observer in commitObservers { observer(nil) }
        commitObservers = []
    }
}

// MARK: - Subscribers

extension Hub {
    /// Attaches a sink to the feed of a selection. The sink then receives every matching event above `position`. A sink
    /// is attached to one feed at a time.
    public func attach(_ sink: any FeedSink, to selection: Selection) {
        precondition(sink.feedPlace == nil, "A sink may be attached only once")
        feed(for: selection).attach(sink)
    }

    /// Detaches a sink from its feed. A feed without sinks is removed.
    public func detach(_ sink: any FeedSink) {
        guard let place = sink.feedPlace else { return }
        sink.feedPlace = nil
        let feed = place.feed
        feed.remove(at: place.index)
        guard feed.isEmpty else { return }
        feeds[feed.selection] = nil
        index.remove(feed)
        if let viewer = feed.selection.viewer { leave(feed, viewer) }
    }

    /// Waits until `position` is at least `target`. Returns false when the hub is not running, or when it stops before
    /// it has reached `target`.
    ///
    /// A position of the event log may be ahead of the hub for a moment: the sender of an event receives the event's
    /// timetoken before the hub has distributed the event. A reader that reads stored events up to the timetoken of
    /// that event must wait before it attaches its sink. Otherwise, the reader would receive the event twice.
    public func reach(_ target: Timetoken) async -> Bool {
        guard isRunning, position < target else { return isRunning }
        return await waiters.wait(for: target)
    }

    /// Returns the sinks that would receive an event now. Used for dry runs.
    public func sinks(receiving event: Event) async -> [any FeedSink] {
        var matching = FeedMatching(event)
        while true {
            if let feeds = index.feeds(for: &matching, until: .now + turnTime) { return feeds.flatMap(\.allSinks) }
            await Task.yield()
        }
    }

    /// Returns the position up to which all events of an app were distributed to the feeds. The position is the
    /// timetoken of one of the app's own events, so clients of the app may see the position. For an app without an
    /// event since the hub's start, it is the position at which the hub started.
    public func position(of app: AppID) -> Timetoken { positions[app] ?? start }

    /// The number of feeds, which is the number of different selections. Streams with equal selections share a feed.
    public var feedCount: Int { feeds.count }

    /// Registers an observer of events that change the audience of their channel: a ban or its end, a member who
    /// leaves, and a channel that is created or changed. The hub calls the observer on its executor, after every feed
    /// has received the event and before any feed receives the next one.
    public func observeAudience(_ observer: @escaping @Sendable (Event) -> Void) { audienceObservers.append(observer) }

    /// Registers an observer of commits. The hub calls the observer on its executor with each commit, before it
    /// distributes the events of the commit, and with nil when it stops. The hub must be running. Then
    /// the observer misses no commit whose events the event log returns only after this call.
    public func observeCommits(_ observer: @escaping @Sendable (Commit?) -> Void) { commitObservers.append(observer) }

    /// The number of distributed events that may have changed an audience. Read this number before you check the right
    /// to receive events, and pass it to ``audienceMayHaveChanged(_:since:)`` later.
    public var audienceChanges: UInt64 { recentAudienceChanges.count }

    /// Returns true when an event may have changed the audience of one of the channels since ``audienceChanges`` was
    /// read. The right to receive the channels' events must then be checked again.
    public func audienceMayHaveChanged(_ channels: ChannelSet, since changes: UInt64) -> Bool {
        recentAudienceChanges.mayAffect(channels, since: changes)
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

// MARK: - Distribution

extension Hub {
    /// Calls the observers of commits, and distributes events of the commit in one iteration. Returns the events that
    /// remain.
    private func begin(_ commit: Commit) -> ArraySlice<Event> {
        for observer in commitObservers { observer(commit) }
        return distributeTurn(commit.events[...], of: commit)
    }

    /// Distributes the remaining events of a commit, and lets other work run before each iteration.
    private func distributeRest(_ events: ArraySlice<Event>, of commit: Commit) async {
        var rest = events
        while !rest.isEmpty {
            await Task.yield()
            rest = distributeTurn(rest, of: commit)
        }
    }

    private func distributeTurn(_ events: ArraySlice<Event>, of commit: Commit) -> ArraySlice<Event> {
        events[distribute(Self.turn(of: events), of: commit)...]
    }

    /// Returns the events of the next iteration, at least one.
    private static func turn(of events: ArraySlice<Event>) -> ArraySlice<Event> {
        var weight = 0
        var end = events.startIndex
        while end < events.endIndex, end - events.startIndex < Turn.events, weight < Turn.weight {
            weight += events[end].weight
            end += 1
        }
        return events[..<end]
    }

    /// Distributes events in one iteration.
    ///
    /// - Returns: the index after the last distributed event. The result is the start index when some filters of the
    ///   first event must still be evaluated.
    private func distribute(_ events: ArraySlice<Event>, of commit: Commit) -> Int {
        let seen = position
        var end = events.endIndex
        // Even without a feed, there may be a viewer whose feed is not attached yet.
        let isHeard = !feeds.isEmpty || !listenerIndex.isEmpty
        let deadline = MonotonicTime.now + turnTime
        var change: Event?
        for index in events.indices where events[index].timetoken > seen {
            guard !isHeard || matchAndDistribute(events[index], until: deadline) else {
                end = index
                break
            }
            activity.record(events[index])
            deletions?.record(events[index])
            // The observers must learn of a changed audience before the next event is distributed.
            if AudienceChanges.include(events[index]) { change = events[index] }
            // Ends the iteration if the audience has changed, or if the deadline has passed and events remain.
            guard change != nil || index + 1 < end && isHeard && MonotonicTime.now >= deadline else { continue }
            end = index + 1
            break
        }
        recordPositions(of: events[..<end].drop { $0.timetoken <= seen })
        let isAll = end == commit.events.endIndex
        if isAll {
            position = max(seen, commit.watermark)
        } else if end > 0 {
            position = max(seen, commit.events[end - 1].timetoken)
        }
        for feed in touched { feed.flush() }
        touched.removeAll(keepingCapacity: true)
        if let change {
            recentAudienceChanges.record(change)
            for observer in audienceObservers { observer(change) }
        }
        waiters.resume(through: position)
        return end
    }

    /// Updates the positions of the apps of distributed events. Most commits contain only events of one app, so only the
    /// last event of a run of the same app is recorded.
    private func recordPositions(of events: ArraySlice<Event>) {
        guard var last = events.last else { return }
        var app = last.channel.app
        positions[app] = last.timetoken
        for event in events.reversed() where !event.isOf(app) {
            last = event
            app = event.channel.app
            positions[app] = max(positions[app] ?? .zero, event.timetoken)
        }
    }

    /// Returns the given users who have a stream, poll or listener that selects the type `channel.activity` by name.
    func namingActivity(_ users: [UserID]) -> Set<UserID> {
        Set(
            users.filter { user in
                listenerIndex.userMemberships(of: ExactText(user.name), in: user.app)?.feeds.contains {
                    $0.selection.namesActivity
                }
                    ?? false
            })
    }

    /// Distributes an event to the feeds that match it. Returns false when the deadline passed before all filters were
    /// evaluated; the event is then not distributed.
    private func matchAndDistribute(_ event: Event, until deadline: MonotonicTime) -> Bool {
        var matching = takeMatching(of: event) ?? FeedMatching(event)
        guard let feeds = index.feeds(for: &matching, until: deadline) else {
            self.matching = matching
            return false
        }
        if listenerIndex.isEmpty { distribute(event, feeds) } else { distributeAmongViewers(&matching, feeds) }
        return true
    }

    /// Removes the interrupted matching, if there is one. Returns it if it belongs to `event`, and nil otherwise.
    private func takeMatching(of event: Event) -> FeedMatching? {
        guard let interrupted = matching else { return nil }
        matching = nil
        return interrupted.event.timetoken == event.timetoken ? interrupted : nil
    }

    func distribute(_ event: Event, _ feeds: [Feed]) {
        for feed in feeds { deliver(event, to: feed) }
    }

    func deliver(_ event: Event, to feed: Feed) {
        if feed.add(event) { touched.append(feed) }
    }
}
