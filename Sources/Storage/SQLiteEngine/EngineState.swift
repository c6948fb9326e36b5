import ChatModel
import Locking
import Logging
import Synchronization

/// What the engine keeps in memory beside the file: shared by the writer, the readers and the callers.
final class EngineState: Sendable {
    let tail: Tail
    let tailIndex: TailIndex
    let passing: PassingEvents
    let positions: AppPositions
    let end: TimetokenAllocator
    let retention: RetentionTable
    let changes: ReplayBuffer<RecordChanges>
    /// Those who hear of each change of records before it can be seen.
    let changeObservers = Lock<[@Sendable (RecordChanges) -> Void]>([])
    let clock: WallClock
    let limits: Limits
    /// The queue in memory, once there is one: removal tells it what it has taken away.
    let scheduler = Lock<DeliveryScheduler?>(nil)

    init(settings: SQLiteEngineSettings, start: Heads, retention: RetentionTable) {
        tail = Tail(capacity: settings.tailBytes, start: start.timetoken.rawValue)
        if start.timetoken == .zero {
            // A log without events stands just before now, so that a position in it is a place in time: after `0`, which asks
            // for all there is, nothing can be missing.
            let now = Timetoken(max(1, settings.clock.now.rawValue) - 1)
            tail.publish(Commit(events: [], watermark: now))
        }
        tailIndex = TailIndex(capacity: settings.tailBytes)
        changes = ReplayBuffer(capacity: 1024 * 1024, start: start.revision)
        passing = PassingEvents(limits: settings.limits)
        positions = AppPositions(start: tail.watermark)
        end = TimetokenAllocator(tail: tail, passing: passing, positions: positions)
        self.retention = retention
        clock = settings.clock
        limits = settings.limits
    }

    /// The time for deciding what is over: the clock, but never before the newest event, so that a clock stepped back
    /// does not bring back what had expired.
    var now: Timetoken { max(clock.now, tail.watermark) }

    /// Makes a change of records known.
    func publish(_ change: RecordChanges) {
        for observer in changeObservers.withLock({ $0 }) { observer(change) }
        changes.publish(change)
    }

    /// Whether the event may still be shown.
    func isReadable(_ event: Event, now: Timetoken, cutoff: Timetoken) -> Bool {
        guard event.timetoken > cutoff else { return false }
        guard let expires = event.draft.expires else { return true }
        return expires > now
    }
}
