import ChatModel
import Locking
import Logging
import StorageCore

/// The state of the engine in memory, which the writer, the readers and the callers share.
final class EngineState: Sendable {
    let tail: Tail
    let tailIndex: TailIndex
    let allocator: TimetokenAllocator
    let retention: RetentionTable
    let changes: RecordChangeBuffer
    let clock: WallClock
    let limits: Limits
    /// The delivery queue in memory; nil until it is created. The removal of old data reports deleted deliveries to it.
    let scheduler = Lock<DeliveryScheduler?>(nil)

    init(settings: SQLiteEngineSettings, start: Heads, retention: RetentionTable) {
        tail = Tail(capacity: settings.tailBytes, start: start.timetoken)
        if start.timetoken == .zero {
            // The watermark is the position up to which all events are visible. In a log without events, it is one tick
            // (100 ns) before the current time, so that even the first position is a point in time. A reader that
            // starts after position `0` still receives all stored events.
            let now = Timetoken(max(1, settings.clock.now.rawValue) - 1)
            tail.publish(Commit(events: [], watermark: now))
        }
        tailIndex = TailIndex(capacity: settings.tailBytes)
        changes = RecordChangeBuffer(start: start.revision)
        allocator = TimetokenAllocator(tail: tail, changes: changes, limits: settings.limits)
        self.retention = retention
        clock = settings.clock
        limits = settings.limits
    }

    /// The time that decides which events have expired: the clock, but never earlier than the newest event. Therefore
    /// expired events do not become visible again when the clock is set back.
    var now: Timetoken { max(clock.now, tail.watermark) }
}
