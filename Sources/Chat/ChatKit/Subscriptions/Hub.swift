public import ChatModel

/// Where committed events meet subscribers: each event is matched once per feed, in log order.
///
/// An actor on the executor it is handed, which for a gateway is the streaming loop: what follows from a commit happens
/// in one turn of that loop, and code that is already there enters with `assumeIsolated`.
public actor Hub {
    private let log: any EventLog
    private let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Everything up to here has been handed to the feeds; later events will be.
    public private(set) var position: Timetoken = .zero
    private var feeds: [Selection: Feed] = [:]
    private var index = FeedIndex()
    /// Feeds with events of the running commit. A member, so that its memory is used again.
    private var touched: [Feed] = []

    init(log: any EventLog, executor: any SerialExecutor) {
        self.log = log
        self.executor = executor
    }

    /// Hands out commits until cancelled or until the engine closes.
    func run(whenReady: @Sendable () -> Void) async throws(ChatError) {
        let commits = await log.committed()
        // Commits between the line above and the next come by the sequence too: `publish` drops what lies below.
        position = try await log.watermark(of: .gateway)
        whenReady()
        for await commit in commits { publish(commit) }
    }

    /// Attaches a sink to the feed of a selection. From this moment it gets every event above `position`.
    public func attach(_ sink: any FeedSink, to selection: Selection) {
        feed(for: selection).sinks.append(sink)
    }

    /// Detaches; the feed goes with its last sink.
    public func detach(_ sink: any FeedSink, from selection: Selection) {
        guard let feed = feeds[selection] else { return }
        feed.sinks.removeAll { $0 === sink }
        guard feed.sinks.isEmpty else { return }
        feeds[selection] = nil
        index.remove(feed)
    }

    /// The sinks an event would reach now, for dry runs.
    public func reach(of event: Event) -> [any FeedSink] {
        let subject = FilterSubject(event)
        var found: [ObjectIdentifier: Feed] = [:]
        index.visit(event.channel) { feed in
            if feed.selection.admitsBesideChannel(subject) { found[ObjectIdentifier(feed)] = feed }
        }
        return found.values.flatMap(\.sinks)
    }

    public var feedCount: Int { feeds.count }

    private func feed(for selection: Selection) -> Feed {
        if let known = feeds[selection] { return known }
        let feed = Feed(selection)
        feeds[selection] = feed
        index.insert(feed)
        return feed
    }

    private func publish(_ commit: Commit) {
        let seen = position
        for event in commit.events where event.timetoken > seen { match(event) }
        position = max(seen, commit.watermark)
        let reached = touched
        touched.removeAll(keepingCapacity: true)
        for feed in reached { feed.flush() }
    }

    private func match(_ event: Event) {
        let subject = FilterSubject(event)
        index.visit(event.channel) { feed in
            // A feed with several ways to a channel is visited several times, and takes the event once.
            if let last = feed.pending.last, last === event { return }
            guard feed.selection.admitsBesideChannel(subject) else { return }
            if feed.pending.isEmpty { touched.append(feed) }
            feed.pending.append(event)
        }
    }
}
