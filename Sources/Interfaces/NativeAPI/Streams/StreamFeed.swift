import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Synchronization

/// The streams of one ``Feed`` of the hub with the same format and included objects. An event is printed once and
/// appended once to the byte log that these streams share.
///
/// If objects are included, an event waits until its objects have been read. Until then the byte log is complete
/// only up to the event before (``position(_:)``). Runs on the loop, on which the hub passes events to the feed.
actor StreamFeed: FeedSink {
    nonisolated let selection: Selection
    nonisolated let format: StreamFormat
    /// The objects to include with each event; nil when none were requested.
    nonisolated let inclusion: IncludePolicy?
    nonisolated let log: Broadcast
    private let reads: IncludeLoader
    private let encoder: FrameEncoder
    private let beats: SecondTimer
    private let streams = Atomic(0)
    private let lossCount = Atomic(0)
    /// The number of times that the feed discarded events before they were in its byte log (``endFeed()``).
    nonisolated var losses: Int { lossCount.load(ordering: .relaxed) }
    nonisolated(unsafe) var feedPlace: FeedPlace?  // Safe: only the hub uses it, on its executor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { log.loop.asUnownedSerialExecutor() }

    /// The second, as counted by the shared timer, in which something was last appended.
    private(set) var lastAppend: UInt64
    private(set) var appended: UInt64 = 0
    /// The timetoken of the newest appended event.
    private var newest = Timetoken.zero
    private var recent = RecentIDs()
    private var debouncer = CountDebouncer()
    /// Events whose included objects are being read.
    private var unread = PendingEvents()
    /// Tasks that wait until the feed's byte log is complete up to a position.
    private var waiters: [(position: Timetoken, continuation: CheckedContinuation<Void, Never>)] = []
    /// Called when the feed begins to hold back an event about counts (``CountDebouncer``).
    private let onHold: @Sendable (StreamFeed) -> Void
    /// Called after the feed has discarded events. The live streams of the feed cannot continue without these events.
    private let onLoss: @Sendable (StreamFeed) -> Void

    init(
        _ selection: Selection, _ format: StreamFormat, _ inclusion: IncludePolicy?, reads: IncludeLoader,
        encoder: FrameEncoder, beats: SecondTimer, log: Broadcast, onHold: @escaping @Sendable (StreamFeed) -> Void,
        onLoss: @escaping @Sendable (StreamFeed) -> Void
    ) {
        self.selection = selection
        self.format = format
        self.inclusion = inclusion
        self.reads = reads
        self.onLoss = onLoss
        self.encoder = encoder
        self.beats = beats
        self.log = log
        self.onHold = onHold
        lastAppend = beats.now
    }

    nonisolated func receive(_ events: [Event]) {
        log.loop.enter(self) { $0.append(events) }
    }

    private func append(_ events: [Event]) {
        guard let inclusion else {
            for event in events { append(event, with: nil) }
            lastAppend = beats.now
            return
        }
        guard unread.append(events) else { return endFeed() }
        let life = unread.life
        reads.assumeIsolated { reads in
            reads.read(events, inclusion, in: selection.channels.app) { result in
                self.assumeIsolated { $0.receive(events, result, of: life) }
            }
        }
    }

    private func append(_ event: Event, with included: RenderedIncludes?) {
        guard selection.viewer == nil || !isHeldBack(event, included) else { return }
        log.append(log.loop.enter(encoder) { $0.frame(event, with: included) })
        newest = event.timetoken
        recent.record(newest)
        appended += 1
    }

    /// Handles the result of a read of included objects for the oldest pending events.
    private func receive(_ events: [Event], _ result: Result<[RenderedIncludes], ChatError>, of life: UInt64) {
        // The events of this read were discarded, and the streams that waited for them have ended.
        guard life == unread.life else { return }
        switch result {
        case .success(let included):
            unread.removeFirst(events)
            for (event, included) in zip(events, included) { append(event, with: included) }
            lastAppend = beats.now
            wake()
        case .failure: endFeed()
        }
    }

    /// Discards the pending events. The clients of the feed reconnect and read the events from the store.
    private func endFeed() {
        unread.clear()
        lossCount.add(1, ordering: .relaxed)
        onLoss(self)
        wake()
    }

    private func isHeldBack(_ event: Event, _ included: RenderedIncludes?) -> Bool {
        guard CountDebouncer.concerns(event) else { return false }
        let wasEmpty = debouncer.isEmpty
        guard debouncer.hold(event, with: included, at: beats.now) else { return false }
        if wasEmpty { onHold(self) }
        return true
    }

    /// Appends the held-back events about counts whose type was not sent in this second. If later events were sent in
    /// the meantime, the block of the counts has no id, so that it does not move a client's cursor back.
    func release() { sendReport(debouncer.release(at: beats.now)) }

    /// Appends all held-back events about counts, so that the feed's byte log is complete up to the hub's position.
    /// Required before a stream leaves the feed at the hub's position, and before a stream joins the feed after it has
    /// read the held-back events from the event log.
    nonisolated func flush() {
        assumeIsolated { feed in
            if !feed.debouncer.isEmpty { feed.sendReport(feed.debouncer.releaseAll(at: feed.beats.now)) }
        }
    }

    private func sendReport(_ events: [(event: Event, included: RenderedIncludes?)]) {
        for (event, included) in events {
            log.append(format.frame(event, with: included?.text, hasID: event.timetoken > newest))
            if event.timetoken > newest { recent.record(event.timetoken) }
            newest = max(newest, event.timetoken)
            appended += 1
            lastAppend = beats.now
        }
    }

    /// Appends a heartbeat for all streams, unless something was appended within the last `interval` seconds. Returns
    /// the second of the next check.
    func keepAlive(every interval: UInt64) -> UInt64 {
        let due = lastAppend + interval
        guard due <= beats.now else { return due }
        log.append(format.heartbeat)
        lastAppend = beats.now
        return beats.now + interval
    }

    /// The position up to which the feed's byte log is complete. Call on the loop.
    ///
    /// - Parameter handedOut: the position up to which the feed has received events.
    nonisolated func position(_ handedOut: Timetoken) -> Timetoken {
        assumeIsolated { feed in feed.unread.first.map { Timetoken($0.timetoken.rawValue - 1) } ?? handedOut }
    }

    /// Returns true when the feed's byte log contains all events up to `position` that the feed has received. Call on
    /// the loop.
    nonisolated func isComplete(through position: Timetoken) -> Bool {
        assumeIsolated { feed in feed.unread.first.map { $0.timetoken > position } ?? true }
    }

    /// Waits until the feed's byte log contains all events up to `position` that the feed has received.
    func reach(_ position: Timetoken) async {
        guard !isComplete(through: position) else { return }
        await withCheckedContinuation { waiter in
            // The runtime may run other code of the actor before this closure, for example `wake()`.
            guard !isComplete(through: position) else { return waiter.resume() }
            waiters.append((position, waiter))
        }
    }

    private func wake() {
        guard !waiters.isEmpty else { return }
        let first = unread.first?.timetoken ?? .distantFuture
        for waiter in waiters where first > waiter.position { waiter.continuation.resume() }
        waiters.removeAll { first > $0.position }
    }

    /// The ids of the newest events that the feed has sent, in no particular order. Call on the loop.
    nonisolated var newestIDs: [Timetoken] { assumeIsolated { $0.recent.ids } }

    /// The number of streams that follow the feed, including streams that catch up.
    nonisolated var streamCount: Int { streams.load(ordering: .relaxed) }
    nonisolated func enter() { streams.add(1, ordering: .relaxed) }

    /// Removes one stream. Returns true when it was the last stream of the feed.
    nonisolated func leave() -> Bool { streams.subtract(1, ordering: .relaxed).newValue == 0 }
}

/// Events of a feed that wait for their included objects.
private struct PendingEvents {
    /// The maximum total weight of the waiting events, in bytes as counted by ``EventDraft/weight``. It is larger than
    /// the weight of the events that the hub distributes in one iteration.
    private static let mostBytes = 4 * 1024 * 1024

    private var events: [Event] = []
    private var bytes = 0
    /// The number of times that the pending events were discarded. If the number has changed since a read of included
    /// objects began, the result of the read is no longer needed.
    private(set) var life: UInt64 = 0

    var first: Event? { events.first }

    /// Adds events. Returns false when their total weight then exceeds the maximum.
    mutating func append(_ new: [Event]) -> Bool {
        events += new
        bytes += new.reduce(0) { $0 + $1.weight }
        return bytes <= Self.mostBytes
    }

    mutating func removeFirst(_ read: [Event]) {
        events.removeFirst(read.count)
        bytes -= read.reduce(0) { $0 + $1.weight }
    }

    mutating func clear() {
        events = []
        bytes = 0
        life += 1
    }
}

/// The ids of the newest events that a feed has sent. A client that resumes with a ticket may send such an id although
/// the event is not in the event log, because the event was never stored or was deleted.
private struct RecentIDs {
    private static let count = 16
    private(set) var ids: [Timetoken] = []
    private var next = 0

    mutating func record(_ id: Timetoken) {
        if ids.count < Self.count {
            ids.append(id)
        } else {
            ids[next] = id
            next = (next + 1) % Self.count
        }
    }
}
