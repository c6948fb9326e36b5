import ChatCore
import ChatModel
import Following
import HTTPServer
import Synchronization

/// All streams with one selection and one format: events are framed once and appended once to their byte log.
///
/// Lives on the loop, where the hub calls it.
actor StreamFeed: StreamCounting {
    nonisolated let selection: Selection
    nonisolated let format: StreamFormat
    nonisolated let log: Broadcast
    private let press: FramePress
    private let beats: Pulse
    private let streams = Atomic(0)
    nonisolated var unownedExecutor: UnownedSerialExecutor { log.loop.asUnownedSerialExecutor() }

    /// When something was last appended, in beats.
    private(set) var lastAppend: UInt64
    private(set) var appended: UInt64 = 0
    /// The newest event it has appended.
    private var newest = Timetoken.zero
    private var recent = RecentIDs()
    private var damper = CountDamper()
    /// Hears when it begins to hold something back.
    private let onHold: @Sendable (StreamFeed) -> Void

    init(
        _ selection: Selection, _ format: StreamFormat, press: FramePress, beats: Pulse, log: Broadcast,
        onHold: @escaping @Sendable (StreamFeed) -> Void
    ) {
        self.selection = selection
        self.format = format
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
        for event in events where selection.viewer == nil || !isHeldBack(event) {
            log.append(press.assumeIsolated { $0.frame(event) })
            newest = event.timetoken
            recent.note(newest)
            appended += 1
        }
        lastAppend = beats.now
    }

    private func isHeldBack(_ event: Event) -> Bool {
        guard CountDamper.concerns(event) else { return false }
        let wasEmpty = damper.isEmpty
        guard damper.hold(event, at: beats.now) else { return false }
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

    private func tell(_ events: [Event]) {
        for event in events {
            log.append(format.frame(event, hasID: event.timetoken > newest))
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

    /// The newest ids it has said, in no order. On the loop.
    nonisolated var newestIDs: [Timetoken] { assumeIsolated { $0.recent.ids } }

    /// Streams that follow it, those that are catching up included.
    nonisolated var streamCount: Int { streams.load(ordering: .relaxed) }
    nonisolated func enter() { streams.add(1, ordering: .relaxed) }

    /// True when it was the last one.
    nonisolated func leave() -> Bool { streams.subtract(1, ordering: .relaxed).newValue == 0 }
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
