import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Locking
import Signing

/// All live streams of the gateway. Opens streams, moves them between feeds and closes them.
///
/// An actor on the loop. Connections, feeds and the hub run there too, so calls to them are synchronous. Slow
/// work, such as reading the log and printing pages, runs elsewhere.
actor LiveStreams {
    nonisolated let service: ChatService
    nonisolated let loop: Loop
    nonisolated let beats: SecondTimer
    /// The polls that wait for events. Streams and polls count towards the same limits.
    nonisolated let polls: LongPollTable
    nonisolated let owners: ConnectionLimits
    nonisolated let tickets: StreamTickets
    nonisolated let selections = SelectionCache()
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let ids: StreamIDs
    private let encoders: [StreamFormat: FrameEncoder]
    /// Reads the objects included with events on streams and polls.
    nonisolated let includedReads: IncludeLoader
    /// The memory budget that the logs of all feeds share.
    let budget: LogBudget

    var roll = StreamRoll()
    /// The streams of each user; streams without a user are left out.
    var userStreams: [UserID: Set<UInt64>] = [:]
    /// For each channel, the number of feeds that name the channel and belong to users' credentials.
    var namedByUsers: [ChannelID: Int] = [:]
    private var lastSequence: UInt64 = 0
    private var feeds: [FeedKey: StreamFeed] = [:]
    /// The streams of each feed.
    private var feedStreams: [ObjectIdentifier: Set<UInt64>] = [:]
    /// The feeds of devices' streams that hold back events about counts until the next second.
    private var damped: [StreamFeed] = []
    /// The feeds, in buckets by the second of their next heartbeat check, modulo the number of buckets.
    private var wheel: [[StreamFeed]]
    var catchingUp: [UInt64: LiveStream] = [:]
    /// The semaphore that limits concurrent catch-up reads.
    let turns = AsyncSemaphore(width: 4)
    /// The cache of catch-up pages that other streams may need.
    var pageCache = PageCache()
    private(set) var isDraining = false
    var pollPrint = PollPrinter()
    private var readyBlocks = ReadyBlocks()
    var counters = StreamMetrics()
    /// For each app, a report that was not yet sent to operators, about streams that were closed because their readers
    /// were too slow.
    var lagged: [AppID: SlowReaderReport] = [:]
    /// The task that reports slow readers to operators; nil when it does not run.
    var reporting: Task<Void, Never>?
    /// The streams that follow channel groups.
    var groupStreams: Set<UInt64> = []
    /// The sessions of devices.
    var sessions = DeviceSessions()
    /// The events about sessions that were not yet appended to the log.
    var reports: [SessionReport] = []
    /// The task that appends the events in `reports`; nil when it does not run.
    var reportTask: Task<Void, Never>?
    /// The tasks that take over sessions from other nodes.
    var takeovers: [DeviceSessions.Device: Task<Void, Never>] = [:]
    /// Pending starts and ends of watching a user's unread messages.
    var watches: [(user: UserID, isOn: Bool)] = []
    /// The task that applies the changes in `watches`; nil when it does not run.
    var watching: Task<Void, Never>?
    /// The users of recent polls, each with the second until which the user counts as connected.
    var pollWatches: [UserID: UInt64] = [:]

    private struct FeedKey: Hashable {
        var selection: Selection
        var format: StreamFormat
        var inclusion: IncludePolicy?
        /// True when the feed's byte log contains frames in chunked transfer coding. HTTP/1.0 clients cannot read
        /// chunks, so their streams use feeds without chunks.
        var isChunked: Bool
    }

    init(polls: LongPollTable) {
        service = polls.service
        loop = polls.loop
        ids = StreamIDs(node: service.nodes.node)
        self.polls = polls
        beats = polls.secondTimer
        owners = polls.owners
        tickets = StreamTickets(service: service)
        includedReads = IncludeLoader(service: service, loop: polls.loop)
        encoders = Dictionary(
            uniqueKeysWithValues: StreamFormat.allCases.map { ($0, FrameEncoder(loop: polls.loop, format: $0)) })
        budget = LogBudget(loop: polls.loop, bytes: service.limits.allFeedsBytes)
        wheel = Array(repeating: [], count: Int(Self.interval(service.limits)) + 1)
        beats.observe { [weak self] tick in self?.assumeIsolated { $0.tick(at: tick) } ?? false }
        loop.post { [weak self, hub = service.hub] in
            guard let streams = self else { return }
            hub.assumeIsolated { hub in
                hub.observeMoves { [weak streams] user in streams?.assumeIsolated { $0.userMoved(user) } }
                hub.observeAudience { [weak streams] event in streams?.assumeIsolated { $0.audienceChanged(by: event) }
                }
            }
        }
        polls.groups.observe { [weak self] groups in await self?.groupsChanged(groups) }
        service.keyring.observe { [weak self] key in
            guard let self else { return }
            loop.post { self.assumeIsolated { $0.credentialChanged(key) } }
        }
        service.keyring.observeApps { [weak self] app in
            guard let self else { return }
            loop.post { self.assumeIsolated { $0.recheck(after: 0) { $0.owner.key.app == app } } }
        }
        answerCalls()
        closeMovedStreams()
        forgetMovedSessions()
        service.observeRevocations { [weak self] app in
            guard let self else { return }
            loop.post {
                self.assumeIsolated { streams in
                    streams.recheck(after: 0) { $0.owner.key.app == app && $0.owner.caller.proof != nil }
                }
            }
        }
    }

    /// The heartbeat interval in seconds, which is the longest time for which a stream sends nothing.
    nonisolated var heartbeatSeconds: UInt64 { Self.interval(service.limits) }

    private static func interval(_ limits: Limits) -> UInt64 { UInt64(max(1, limits.heartbeat.wholeSecondsUp)) }

    /// The position up to which the hub has passed the app's events to the stream's feed.
    func hubPosition(for stream: LiveStream) -> Timetoken { hubPosition(for: stream.feed) }

    private func hubPosition(for feed: StreamFeed) -> Timetoken {
        let app = feed.selection.channels.app
        return loop.enter(service.hub) { $0.position(of: app) }
    }

    /// The position up to which the feed's log is complete, apart from events that the feed holds back.
    func logPosition(of feed: StreamFeed) -> Timetoken { feed.position(hubPosition(for: feed)) }

    nonisolated func id(of sequence: UInt64) -> String { ids.id(of: sequence) }

    /// The number of the stream with an id; nil for an invalid id, and for an id from before the start of the process.
    nonisolated func sequence(of id: String) -> UInt64? { ids.number(of: id) }
}

// MARK: - Opening

extension LiveStreams {
    /// Returns the error for a caller that may not open another stream; nil if the caller may: `.tooMany` when a limit of
    /// the address, app, key or user is reached, `.overloaded` when the gateway's limit is reached, `.unavailable` while
    /// the gateway stops.
    ///
    /// - Parameter ticket: the ticket of a client that reconnects. If the ticket still has an open stream, that stream
    ///   is not counted, because its client has lost the connection.
    func refusal(
        of caller: Caller, from address: RemoteAddress, resuming ticket: StreamTicket.Nonce? = nil
    ) -> ChatError? {
        isDraining
            ? ChatError.notListening : owners.refusal(of: caller, from: address, replacing: placeOfStream(of: ticket))
    }

    /// The client address of the stream that a ticket has open; nil when the ticket has no open stream.
    private func placeOfStream(of ticket: StreamTicket.Nonce?) -> RemoteAddress? {
        ticket.flatMap(tickets.stream).flatMap { roll[$0] }?.connection.remoteAddress
    }

    /// Opens a stream on a connection whose response header is being sent.
    func open(_ connection: StreamConnection, _ order: StreamRequest) {
        let refusal: ClosingReason? =
            if isDraining {
                .draining
            } else if owners.refusal(
                of: order.caller, from: connection.remoteAddress, replacing: placeOfStream(of: order.ticket?.nonce))
                != nil
            {
                // Several concurrent requests may have passed the check in `refusal` although only one more stream was allowed.
                .tooManyStreams
            } else if !isInForce(order.caller, order.selection) {
                .unauthorized
            } else {
                nil
            }
        let stream = enroll(connection, order)
        connection.onClose { [self, sequence = stream.sequence] reason in
            loop.enter(self) { $0.closed(sequence, reason) }
        }
        if let refusal {
            // The stream is rejected, so the ticket counts as unused.
            if let ticket = order.ticket { tickets.release(ticket.nonce) }
            close(stream, refusal)
        } else {
            begin(stream, order)
        }
    }

    private func enroll(_ connection: StreamConnection, _ order: StreamRequest) -> LiveStream {
        lastSequence += 1
        let owner = owners.enter(order.caller, from: connection.remoteAddress)
        let stream = LiveStream(
            sequence: lastSequence, connection: connection, owner: owner, order: order,
            feed: enterFeed(
                order.selection, order.format, order.inclusion, isChunked: connection.isChunked, lastSequence),
            opened: service.clock.now, tick: beats.now)
        roll.append(stream)
        if let user = stream.user { userStreams[user, default: []].insert(stream.sequence) }
        if stream.groups != nil { groupStreams.insert(stream.sequence) }
        counters.opened += 1
        startBeating()
        return stream
    }

    private func begin(_ stream: LiveStream, _ order: StreamRequest) {
        let resumption = order.resumption
        if let ticket = order.ticket {
            let (old, mayHaveMoved) = tickets.opened(
                ticket, by: stream.sequence, following: order.selection, at: order.shownStart)
            if let old, let old = roll[old] { close(old, .replaced) }
            if mayHaveMoved { closeIfMoved(ticket) }
        }
        deviceCame(stream, hasGap: resumption.gap != nil)
        let format = stream.feed.format
        var first = readyBlocks.block(
            ReadyBlocks.Start(
                format: format, cursor: order.shownStart, heartbeat: Int(heartbeatSeconds),
                session: session(of: stream), isFollowedByGap: resumption.gap != nil),
            of: id(of: stream.sequence))
        if resumption.gap != nil {
            first += format.control(.gap(resumption))
            counters.gaps += 1
        }
        guard stream.connection.send(first) else { return }
        // The access is checked again if it may have changed since the lookup.
        stream.needsRecheck = audienceMayHaveChanged(stream, since: order.audienceChanges)
        follow(stream)
        // The groups may have changed since the lookup.
        if let groups = stream.groups, groups.version != groupChanges {
            Task { await self.followGroups(of: [stream]) }
        }
    }

    /// Continues a stream from its position. If the stream has missed no events, it goes live. Otherwise, catch-up
    /// reads the missed events from the event log.
    func follow(_ stream: LiveStream) {
        let log = stream.feed.log
        let end = hubPosition(for: stream)
        if stream.position >= end, stream.feed.position(end) == end, !stream.needsRecheck {
            stream.feed.flush()
            if stream.connection.join(log, at: log.head) { return }
        }
        guard stream.connection.isOpen else { return }
        startCatchUp(stream)
    }
}

// MARK: - Feeds

extension LiveStreams {
    /// Adds a stream to the feed of a selection, and returns the feed. The feed is created if it does not exist. From
    /// now on the feed receives every event after the hub's position.
    ///
    /// - Parameter sequence: the stream's number.
    func enterFeed(
        _ selection: Selection, _ format: StreamFormat, _ inclusion: IncludePolicy?, isChunked: Bool,
        _ sequence: UInt64
    ) -> StreamFeed {
        let key = FeedKey(selection: selection, format: format, inclusion: inclusion, isChunked: isChunked)
        let known = feeds[key]
        let feed = known ?? makeFeed(key)
        if known == nil { countNames(of: selection, 1) }
        feed.enter()
        feedStreams[ObjectIdentifier(feed), default: []].insert(sequence)
        return feed
    }

    /// Adds `change` to the entry of ``namedByUsers`` for each channel that the selection names.
    private func countNames(of selection: Selection, _ change: Int) {
        guard selection.isOfUser else { return }
        for name in selection.channels.names {
            let channel = ChannelID(name.text, in: selection.channels.app)
            let count = (namedByUsers[channel] ?? 0) + change
            namedByUsers[channel] = count > 0 ? count : nil
        }
    }

    private func makeFeed(_ key: FeedKey) -> StreamFeed {
        var options = key.format.logOptions(feedBytes: service.limits.feedBytes)
        options.isChunked = key.isChunked
        options.budget = budget
        budget.setLimit(service.limits.allFeedsBytes)
        let log = Broadcast(loop: loop, options: options)
        let last = key.format.control(.lagged)
        log.onLag = { $0.finish(last: last) }
        guard let encoder = encoders[key.format] else {
            preconditionFailure("no frame encoder for format \(key.format)")
        }
        let feed = StreamFeed(
            key.selection, key.format, key.inclusion, reads: includedReads, encoder: encoder, beats: beats, log: log
        ) { [weak self] feed in
            self?.assumeIsolated { $0.damped.append(feed) }
        } onLoss: { [weak self] feed in
            self?.assumeIsolated { $0.closeLive(of: feed) }
        }
        feeds[key] = feed
        wheel[bucket(of: beats.now + heartbeatSeconds)].append(feed)
        loop.enter(service.hub) { $0.attach(feed, to: key.selection) }
        return feed
    }

    /// Removes one stream from a feed. A feed without streams is removed.
    func leaveFeed(_ feed: StreamFeed, _ sequence: UInt64) {
        feedStreams[ObjectIdentifier(feed)]?.remove(sequence)
        guard feed.leave() else { return }
        feedStreams[ObjectIdentifier(feed)] = nil
        countNames(of: feed.selection, -1)
        feeds[
            FeedKey(
                selection: feed.selection, format: feed.format, inclusion: feed.inclusion,
                isChunked: feed.log.isChunked)] = nil
        loop.enter(service.hub) { $0.detach(feed) }
        counters.appended += feed.assumeIsolated { $0.appended }
    }

    var feedCount: Int { feeds.count }
    var framedCount: UInt64 {
        encoders.values.reduce(0) { sum, encoder in sum + encoder.assumeIsolated { $0.printed } }
    }
    var appendedByFeeds: UInt64 { feeds.values.reduce(0) { sum, feed in sum + feed.assumeIsolated { $0.appended } } }

    private func bucket(of tick: UInt64) -> Int { Int(tick % UInt64(wheel.count)) }
}

// MARK: - Closing

extension LiveStreams {
    /// The time that a client gets to read pending data and the closing block, after it has lost the right to its
    /// stream.
    private static let lastWords: Duration = .seconds(1)

    /// Sends a closing block with the reason, and closes the connection once the block is sent. A client that does not
    /// read is disconnected after the stall timeout, or after ``lastWords`` when the reason is final.
    ///
    /// - Parameter count: the number of clients that reconnect at the same time; nil to use the number of open streams.
    func close(_ stream: LiveStream, _ reason: ClosingReason, among count: Int? = nil) {
        let time = reason.isFinal ? Self.lastWords : nil
        guard stream.connection.isOpen else {
            // The stream is already closing for another reason with a longer time limit. This shortens the time limit.
            if let time { stream.connection.finish(within: time) }
            return
        }
        if reason == .deleted { stream.isEnded = true }
        if reason == .deleted, let nonce = stream.ticket { tickets.finish(nonce) }
        let retry = reason.isFinal ? nil : Self.retryMilliseconds(among: count ?? roll.count)
        stream.connection.finish(last: stream.feed.format.control(.closing(reason, retry: retry)), within: time)
    }

    /// A random time in milliseconds after which a client reconnects. It spreads clients to about a thousand a second,
    /// over at most 30 seconds.
    private static func retryMilliseconds(among count: Int) -> Int {
        500 + Int.random(in: 0..<min(max(2000, count), 30_000))
    }

    /// Closes the live streams of a feed that could not append events. Their clients reconnect with their last id.
    private func closeLive(of feed: StreamFeed) {
        let streams = (feedStreams[ObjectIdentifier(feed)] ?? []).sorted().compactMap { roll[$0] }
        for stream in streams where !stream.isCatchingUp { close(stream, .storeUnavailable) }
    }

    private func closed(_ sequence: UInt64, _ reason: StreamConnection.CloseReason) {
        guard let stream = roll.remove(sequence) else { return }
        if reason == .tooSlow { recordLag(stream) }
        stream.catchUp?.cancel()
        catchingUp[sequence] = nil
        deviceWent(stream)
        groupStreams.remove(sequence)
        if let user = stream.user, userStreams[user]?.remove(sequence) != nil, userStreams[user]?.isEmpty ?? false {
            userStreams[user] = nil
        }
        leaveFeed(stream.feed, sequence)
        if let nonce = stream.ticket { tickets.disconnected(nonce, sequence, sent: stream.feed.newestIDs) }
        owners.leave(stream.owner, from: stream.connection.remoteAddress)
    }

    /// Sends a closing block on every stream and ends every waiting poll. Later streams and polls are rejected.
    func drain() async {
        isDraining = true
        await polls.drain()
        // The number of streams is read once, because all their clients reconnect at about the same time.
        let count = roll.count
        await forEachStream { $0.close($1, .draining, among: count) }
    }

    /// Calls `body` with all streams, in parts, so that the loop can do other work in between.
    func forEachStream(_ body: (isolated LiveStreams, LiveStream) -> Void) async {
        var position: UInt64? = 0
        while let start = position {
            let part = roll.part(behind: start, limit: 512)
            for stream in part.streams { body(self, stream) }
            position = part.last
            if position != nil { await Task.yield() }
        }
    }
}

// MARK: - Timer

extension LiveStreams {
    /// Runs once a second. Sends heartbeats, checks expiries and closes streams that are too slow. Returns true while
    /// there is something to check; otherwise the timer stops.
    private func tick(at now: UInt64) -> Bool {
        releaseCounts()
        keepFeedsAlive(now)
        keepCatchUpsAlive(now)
        checkExpiries()
        tickets.sweep()
        reportLag()
        expireSessions()
        expirePollWatches(at: now)
        pageCache.compact(at: now)
        for encoder in encoders.values { encoder.assumeIsolated { $0.forget() } }
        let hasWork = roll.count > 0 || !tickets.isEmpty || !lagged.isEmpty || !pageCache.isEmpty
        return hasWork || !sessions.isEmpty || !pollWatches.isEmpty
    }

    private func releaseCounts() {
        let due = damped
        damped = []
        for feed in due where feed.streamCount > 0 { feed.assumeIsolated { $0.release() } }
    }

    private func keepFeedsAlive(_ now: UInt64) {
        var due: [StreamFeed] = []
        swap(&due, &wheel[bucket(of: now)])
        for feed in due where feed.streamCount > 0 {
            let log = feed.log
            let before = log.head
            let next = feed.assumeIsolated { $0.keepAlive(every: heartbeatSeconds) }
            if log.head != before { counters.heartbeats += 1 }
            wheel[bucket(of: next)].append(feed)
        }
    }

    nonisolated func startBeating() { beats.start() }
}
