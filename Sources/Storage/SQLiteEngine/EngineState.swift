import ChatModel
import Locking
import Logging
import Synchronization

/// The state that the engine keeps in memory beside the file. The writer, the readers and the callers share it.
final class EngineState: Sendable {
    let tail: Tail
    let tailIndex: TailIndex
    let passing: PassingEvents
    let positions: AppPositions
    let allocator: TimetokenAllocator
    let retention: RetentionTable
    let changes: ReplayBuffer<RecordChanges>
    /// Observers called with each change of records before readers can see it.
    let changeObservers = Lock<[@Sendable (RecordChanges) -> Void]>([])
    let clock: WallClock
    let limits: Limits
    /// The delivery queue in memory, once it exists. Removals report the deleted deliveries to it.
    let scheduler = Lock<DeliveryScheduler?>(nil)

    init(settings: SQLiteEngineSettings, start: Heads, retention: RetentionTable) {
        tail = Tail(capacity: settings.tailBytes, start: start.timetoken.rawValue)
        if start.timetoken == .zero {
            // The watermark of a log without events is one tick before now, so that a position in it is a point in
            // time. A reader that starts after `0`, which asks for all kept events, misses nothing.
            let now = Timetoken(max(1, settings.clock.now.rawValue) - 1)
            tail.publish(Commit(events: [], watermark: now))
        }
        tailIndex = TailIndex(capacity: settings.tailBytes)
        changes = ReplayBuffer(capacity: 1024 * 1024, start: start.revision)
        passing = PassingEvents(limits: settings.limits)
        positions = AppPositions(start: tail.watermark)
        allocator = TimetokenAllocator(tail: tail, passing: passing, positions: positions)
        self.retention = retention
        clock = settings.clock
        limits = settings.limits
    }

    /// The time used to decide what has expired: the clock, but never before the newest event. A clock that steps back
    /// therefore does not bring back expired events.
    var now: Timetoken { max(clock.now, tail.watermark) }

    /// Calls the observers with a change of records, then publishes it to followers.
    func publish(_ change: RecordChanges) {
        for observer in changeObservers.withLock({ $0 }) { observer(change) }
        changes.publish(change)
    }

    /// True when neither retention (`cutoff`) nor the event's own expiry hides it.
    func isReadable(_ event: Event, now: Timetoken, cutoff: Timetoken) -> Bool {
        guard event.timetoken > cutoff else { return false }
        guard let expires = event.draft.expires else { return true }
        return expires > now
    }
}
