import ChatCore
import ChatModel
import Following
import HTTPServer
import Synchronization

/// All streams with one selection, one format and the same objects beside events: events are framed once and appended once to
/// their byte log.
///
/// Where objects stand beside events, an event waits until these were read. Until then the log is complete up to the event
/// before it (``position(_:)``).
/// Lives on the loop, where the hub calls it.
actor StreamFeed: StreamCounting {
    nonisolated let selection: Selection
    nonisolated let format: StreamFormat
    /// The objects beside each event; nil for none.
    nonisolated let inclusion: IncludePolicy?
    nonisolated let log: Broadcast
    private let reads: IncludeLoader
    private let press: FrameEncoder
    private let beats: SecondTimer
    private let streams = Atomic(0)
    private let lossCount = Atomic(0)
    /// The number of times that the feed discarded events that its log does not hold (``lose()``).
    nonisolated var losses: Int { lossCount.load(ordering: .relaxed) }
    nonisolated var unownedExecutor: UnownedSerialExecutor { log.loop.asUnownedSerialExecutor() }

    /// When something was last appended, in beats.
    private(set) var lastAppend: UInt64
    private(set) var appended: UInt64 = 0
    /// The newest event it has appended.
    private var newest = Timetoken.zero
    private var recent = RecentIDs()
    private var damper = CountDebouncer()
    /// Events whose objects are being read.
    private var unread = PendingEvents()
    /// What waits for the log to be complete up to a position.
    private var waiters: [(position: Timetoken, continuation: CheckedContinuation<Void, Never>)] = []
    /// Hears when it begins to hold something back.
    private let onHold: @Sendable (StreamFeed) -> Void
    /// Hears when it cannot append events, and its streams cannot go on.
    private let onLoss: @Sendable (StreamFeed) -> Void

    init(
        _ selection: Selection, _ format: StreamFormat, _ inclusion: IncludePolicy?, reads: IncludeLoader,
        press: FrameEncoder, beats: SecondTimer, log: Broadcast, onHold: @escaping @Sendable (StreamFeed) -> Void,
        onLoss: @escaping @Sendable (StreamFeed) -> Void
    ) {
        self.selection = selection
        self.format = format
        self.inclusion = inclusion
        self.reads = reads
        self.onLoss = onLoss
        self.press = press
        self.beats = beats
        self.log = log
        self.onHold = onHold
        lastAppend = beats.now
    }

    nonisolated func take(_ events: [Event]) {
        assumeIsolated { $0.append(events) }
    }

    private func append(_ events: [Event]) {
        guard let inclusion else {
            for event in events { append(event, with: nil) }
            lastAppend = beats.now
            return
        }
        guard unread.append(events) else { return lose() }
        let life = unread.life
        reads.assumeIsolated { reads in
            reads.read(events, inclusion, in: selection.channels.app) { result in
                self.assumeIsolated { $0.take(events, result, of: life) }
            }
        }
    }

    private func append(_ event: Event, with included: RenderedIncludes?) {
        guard selection.viewer == nil || !isHeldBack(event, included) else { return }
        log.append(press.assumeIsolated { $0.frame(event, with: included) })
        newest = event.timetoken
        recent.note(newest)
        appended += 1
    }

    /// The objects of the oldest unread events are there.
    private func take(_ events: [Event], _ result: Result<[RenderedIncludes], ChatError>, of life: UInt64) {
        // The streams that waited for these are over.
        guard life == unread.life else { return }
        switch result {
        case .success(let included):
            unread.removeFirst(events)
            for (event, included) in zip(events, included) { append(event, with: included) }
            lastAppend = beats.now
            wake()
        case .failure: lose()
        }
    }

    /// Gives up what is unread: those who follow it come back and read it from the log.
    private func lose() {
        unread.clear()
        lossCount.add(1, ordering: .relaxed)
        onLoss(self)
        wake()
    }

    private func isHeldBack(_ event: Event, _ included: RenderedIncludes?) -> Bool {
        guard CountDebouncer.concerns(event) else { return false }
        let wasEmpty = damper.isEmpty
        guard damper.hold(event, with: included, at: beats.now) else { return false }
        if wasEmpty { onHold(self) }
        return true
    }

    /// Says what was held back. Where later events have gone out meanwhile it must not move a client's cursor back, and
    /// has no id.
    func release() { tell(damper.release(at: beats.now)) }

    /// Says now what is held back, so that the log has everything up to the hub's position: for who leaves the feed there,
    /// or comes to it with that behind.
    nonisolated func settle() {
        assumeIsolated { feed in
            if !feed.damper.isEmpty { feed.tell(feed.damper.releaseAll(at: feed.beats.now)) }
        }
    }

    private func tell(_ events: [(event: Event, included: RenderedIncludes?)]) {
        for (event, included) in events {
            log.append(format.frame(event, with: included?.text, hasID: event.timetoken > newest))
            if event.timetoken > newest { recent.note(event.timetoken) }
            newest = max(newest, event.timetoken)
            appended += 1
            lastAppend = beats.now
        }
    }

    /// Appends a heartbeat for all streams at once, unless something was said within `interval`. Returns the beat at
    /// which to look again.
    func keepAlive(every interval: UInt64) -> UInt64 {
        let due = lastAppend + interval
        guard due <= beats.now else { return due }
        log.append(format.heartbeat)
        lastAppend = beats.now
        return beats.now + interval
    }

    /// Up to where the log is complete, given up to where the feed was handed events. On the loop.
    nonisolated func position(_ handedOut: Timetoken) -> Timetoken {
        assumeIsolated { feed in feed.unread.first.map { Timetoken($0.timetoken.rawValue - 1) } ?? handedOut }
    }

    /// Whether the log holds every event that the feed was handed up to a position. On the loop.
    nonisolated func isComplete(through position: Timetoken) -> Bool {
        assumeIsolated { feed in feed.unread.first.map { $0.timetoken > position } ?? true }
    }

    /// Returns when the log holds every event that the feed was handed up to a position.
    func reach(_ position: Timetoken) async {
        guard !isComplete(through: position) else { return }
        await withCheckedContinuation { waiters.append((position, $0)) }
    }

    private func wake() {
        guard !waiters.isEmpty else { return }
        let first = unread.first?.timetoken ?? .distantFuture
        for waiter in waiters where first > waiter.position { waiter.continuation.resume() }
        waiters.removeAll { first > $0.position }
    }

    /// The newest ids it has said, in no order. On the loop.
    nonisolated var newestIDs: [Timetoken] { assumeIsolated { $0.recent.ids } }

    /// Streams that follow it, those that are catching up included.
    nonisolated var streamCount: Int { streams.load(ordering: .relaxed) }
    nonisolated func enter() { streams.add(1, ordering: .relaxed) }

    /// True when it was the last one.
    nonisolated func leave() -> Bool { streams.subtract(1, ordering: .relaxed).newValue == 0 }
}

/// Events of a feed that wait for the objects beside them.
private struct PendingEvents {
    /// The most that wait, in bytes as ``EventDraft/weight`` counts them: more than a turn of the hub hands out.
    private static let mostBytes = 4 * 1024 * 1024

    private var events: [Event] = []
    private var bytes = 0
    /// How often they were given up.
    private(set) var life: UInt64 = 0

    var first: Event? { events.first }

    /// False when there are too many.
    mutating func append(_ new: [Event]) -> Bool {
        events += new
        bytes += new.reduce(0) { $0 + $1.draft.weight }
        return bytes <= Self.mostBytes
    }

    mutating func removeFirst(_ read: [Event]) {
        events.removeFirst(read.count)
        bytes -= read.reduce(0) { $0 + $1.draft.weight }
    }

    mutating func clear() {
        events = []
        bytes = 0
        life += 1
    }
}

/// The newest few ids of a feed. A ticket's client may come back with one of an event that the log does not have: it was never
/// kept, or is gone since.
private struct RecentIDs {
    private static let count = 16
    private(set) var ids: [Timetoken] = []
    private var next = 0

    mutating func note(_ id: Timetoken) {
        if ids.count < Self.count {
            ids.append(id)
        } else {
            ids[next] = id
            next = (next + 1) % Self.count
        }
    }
}
