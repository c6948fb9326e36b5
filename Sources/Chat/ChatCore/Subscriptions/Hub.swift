public import ChatModel
import Locking

/// The distribution of committed events to subscribers: each event is matched once per feed, in log order.
///
/// An actor on a given executor, which in the gateway is the streaming loop. The effects of a commit happen in one turn
/// of that loop, and code that already runs on the loop enters the actor with `assumeIsolated`.
public actor Hub {
    /// The limits of one turn. A commit may contain thousands of events, and everything else on the executor waits
    /// meanwhile; the byte logs of streams must also be sent before they are overwritten.
    private enum Turn {
        static let events = 256
        static let weight = 256 * 1024
    }
    private let turnTime: Duration
    private let activity: ChannelActivity

    let log: any EventLog
    private let executor: any SerialExecutor
    /// The executor that was passed to the initializer.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The position up to which all events were handed to the feeds. Valid while `isRunning`.
    public private(set) var position: Timetoken = .zero
    /// The same per app, for apps with an event since the start.
    private var positions: [AppID: Timetoken] = [:]
    private var start: Timetoken = .zero
    /// True when committed events reach the feeds. Attaching is not allowed before: earlier commits would neither be
    /// read from the store nor handed out.
    public private(set) var isRunning = false

    private var feeds: [Selection: Feed] = [:]
    var index = FeedIndex()
    /// The users that streams listen as.
    var listenerIndex = ListenerIndex()
    var moveObservers: [@Sendable (UserID) -> Void] = []
    private var audienceSnapshot = AudienceChanges()
    private var audienceObservers: [@Sendable (Event) -> Void] = []
    /// The feeds with events in the current turn. A property, so that its memory is reused.
    private var touched: [Feed] = []
    /// The next event, while its filters take more than one turn. It was not handed to any feed yet.
    private var trial: FeedMatching?
    private let waiters = PositionWaiters<Timetoken>()

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
        // The sequence also contains commits made between the previous line and the next; `distribute` drops events at or
        // below the position.
        position = try await log.watermark(of: .gateway)
        start = position
        isRunning = true
        whenReady()
        for await commit in commits { await publish(commit) }
    }

    private func stopped() {
        isRunning = false
        waiters.endAll()
    }
}

// MARK: - Subscribers

extension Hub {
    /// Attaches a sink to the feed of a selection. From then on it receives every matching event above `position`.
    public func attach(_ sink: any FeedSink, to selection: Selection) {
        feed(for: selection).attach(sink)
    }

    /// Detaches a sink. The feed is removed with its last sink.
    public func detach(_ sink: any FeedSink, from selection: Selection) {
        guard let feed = feeds[selection] else { return }
        feed.detach(sink)
        guard feed.isEmpty else { return }
        feeds[selection] = nil
        index.remove(feed)
        if let viewer = selection.viewer { leave(feed, viewer) }
    }

    /// Waits until `position` has reached `target`. Returns false when the hub is not running or stops before.
    ///
    /// A position from the log may be ahead of the hub for a moment: the sender of an event knows its timetoken before
    /// the hub has seen the commit. A reader that joins the live side before the hub has caught up would receive the
    /// event twice.
    public func reach(_ target: Timetoken) async -> Bool {
        guard isRunning, position < target else { return isRunning }
        return await waiters.wait(for: target)
    }

    /// The sinks that an event would reach now, for dry runs.
    public func reach(of event: Event) async -> [any FeedSink] {
        var trial = FeedMatching(event)
        while true {
            if let feeds = index.feeds(for: &trial, until: .now + turnTime) { return feeds.flatMap(\.allSinks) }
            await Task.yield()
        }
    }

    /// The position up to which all events of an app were handed to the feeds. It moves only with events of the app, so
    /// it may be shown to the app.
    public func position(of app: AppID) -> Timetoken { positions[app] ?? start }

    /// The number of feeds: of different selections, however many streams share each.
    public var feedCount: Int { feeds.count }

    /// Calls an observer on the hub's executor after each event that changes the audience of its channel (a ban or its
    /// end, a member who leaves, a channel that is created or changed). Every feed has received that event then, and
    /// none the next event.
    public func observeAudience(_ observer: @escaping @Sendable (Event) -> Void) { audienceObservers.append(observer) }

    /// The number of such events handed out so far. Read it before a check of the right to receive.
    public var audienceChanges: UInt64 { audienceSnapshot.count }

    /// True when such an event was handed out since, on one of the channels. The right to receive must then be checked
    /// again.
    public func audienceMayHaveChanged(_ channels: ChannelSet, since changes: UInt64) -> Bool {
        audienceSnapshot.markChanged(channels, since: changes)
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
    private func publish(_ commit: Commit) async {
        var rest = commit.events[...]
        repeat {
            let end = distribute(Self.turn(of: rest), of: commit)
            rest = rest[end...]
            if !rest.isEmpty { await Task.yield() }
        } while !rest.isEmpty
    }

    /// The events of the next turn, at least one.
    private static func turn(of events: ArraySlice<Event>) -> ArraySlice<Event> {
        var weight = 0
        var end = events.startIndex
        while end < events.endIndex, end - events.startIndex < Turn.events, weight < Turn.weight {
            weight += events[end].draft.weight
            end += 1
        }
        return events[..<end]
    }

    /// - Returns: the index after the last event handed out. When it is the start index, filters of the first event are
    ///   still to be tried.
    private func distribute(_ events: ArraySlice<Event>, of commit: Commit) -> Int {
        let seen = position
        var end = events.endIndex
        // Without a feed, there may be a viewer whose feed is being created.
        let isHeard = !feeds.isEmpty || !listenerIndex.isEmpty
        let deadline = ContinuousClock.now + turnTime
        var change: Event?
        for index in events.indices where events[index].timetoken > seen {
            guard !isHeard || match(events[index], until: deadline) else {
                end = index
                break
            }
            record(events[index])
            // The audience must be settled before the next event is handed out.
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
            audienceSnapshot.record(change)
            for observer in audienceObservers { observer(change) }
        }
        waiters.resume(through: position)
        return end
    }

    private func record(_ event: Event) {
        positions[event.channel.app] = event.timetoken
        activity.record(event)
    }

    /// The users among the given ones with a stream, poll or listener that selects `channel.activity` by name.
    func namingActivity(_ users: [UserID]) -> Set<UserID> {
        Set(
            users.filter { user in
                listenerIndex.userMemberships(of: ExactText(user.name), in: user.app)?.feeds.contains {
                    $0.selection.namesActivity
                }
                    ?? false
            })
    }

    /// Hands an event to the feeds that match it. False when the deadline passed before all filters were tried; then
    /// the event was not handed out.
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
        for feed in feeds { deliver(event, to: feed) }
    }

    func deliver(_ event: Event, to feed: Feed) {
        if feed.add(event) { touched.append(feed) }
    }
}

/// The handed-out events after which a user may gain or lose access to a channel. The latest ones are stored by
/// channel, so that a caller can find out whether an earlier check of access is still valid.
struct AudienceChanges {
    /// The number of events whose channels are stored.
    private static let held = 256

    /// The number of such events since the start.
    private(set) var count: UInt64 = 0
    private var channels: [ChannelID] = []

    private static let types: Set<String> = [
        "user.banned", "user.unbanned", "member.left", "channel.created", "channel.updated",
    ]

    /// True when the event is one of them. Events of the same type that clients publish do not have such an audience.
    static func include(_ event: Event) -> Bool {
        guard case .rule = event.audience else { return false }
        return types.contains(event.type)
    }

    mutating func record(_ event: Event) {
        let place = Int(count % UInt64(Self.held))
        if place < channels.count { channels[place] = event.channel } else { channels.append(event.channel) }
        count += 1
    }

    /// True when any event since `earlier` was on one of the channels, or when that is no longer known.
    func markChanged(_ wanted: ChannelSet, since earlier: UInt64) -> Bool {
        guard count > earlier else { return false }
        guard count - earlier <= UInt64(Self.held) else { return true }
        return (earlier..<count).contains { wanted.contains(channels[Int($0 % UInt64(Self.held))]) }
    }
}
