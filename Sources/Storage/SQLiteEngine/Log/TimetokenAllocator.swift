import ChatModel
import Locking
import StorageCore

/// Assigns timetokens to events and makes the events visible to readers in the order of their timetokens.
///
/// The writer holds the allocator from the first timetoken of a batch until the batch is visible or rolled back. While
/// the writer does not hold the allocator, ephemeral events receive their timetokens directly on the thread that emits
/// them, if enough timetokens are reserved in the database. These events do not wait for the disk, because all events
/// with earlier timetokens are already visible.
final class TimetokenAllocator: Sendable {
    /// The last assigned timetoken, and the highest timetoken that is reserved in the database.
    struct Mark: Sendable {
        /// The last assigned timetoken. It never decreases, so a batch that is rolled back leaves unused timetokens.
        var last: UInt64
        var reserved: UInt64

        /// Assigns and returns the next timetoken: the current time, or the last timetoken plus one if that is later.
        mutating func next(now: Timetoken) -> UInt64 { next(1, now: now) }

        /// Assigns several successive timetokens, and returns the first.
        mutating func next(_ count: Int, now: Timetoken) -> UInt64 {
            let first = max(last + 1, now.rawValue)
            last = first + UInt64(count) - 1
            return first
        }
    }

    private struct State: Sendable {
        var mark: Mark
        var isHeld = false
        var isClosed = false
        /// The ephemeral events and the positions of the apps are in this state, so that an emit takes one lock for all
        /// of it.
        var passing: PassingEvents
        var positions: AppPositions

        /// Makes events visible to readers. Returns the waiting consumers of the tail, which the caller must wake after
        /// it has released the lock of this state.
        mutating func show(
            _ events: [Event], upTo last: UInt64, in tail: Tail, now: Timetoken
        ) -> [WaitingConsumer] {
            passing.add(events, now: now)
            let consumers = tail.add(Commit(events: events, watermark: Timetoken(last)))
            positions.record(events)
            return consumers
        }
    }

    private let state: Lock<State>
    private let tail: Tail
    private let changes: RecordChangeBuffer

    init(tail: Tail, changes: RecordChangeBuffer, limits: Limits) {
        self.tail = tail
        self.changes = changes
        let start = tail.watermark
        state = Lock(
            State(
                mark: Mark(last: start.rawValue, reserved: start.rawValue), passing: PassingEvents(limits: limits),
                positions: AppPositions(start: start)))
    }

    /// Assigns timetokens to ephemeral events and makes the events visible, without the writer. Returns nil and assigns
    /// nothing if the writer must append the events.
    ///
    /// None of the drafts may need a commit (`EventDraft.needsCommit`). If the result is not nil, the drafts were moved
    /// into the events, and `drafts` is empty.
    ///
    /// - Parameter revision: if a record has changed since this revision of the directory, the result is nil; nil to
    ///   ignore changes.
    func pass(_ drafts: inout [EventDraft], now: Timetoken, unlessChangedSince revision: Revision?) -> [Event]? {
        assert(!drafts.contains(where: \.needsCommit), "only the writer can append these drafts")
        guard !drafts.isEmpty else { return nil }
        let passed: (events: [Event], consumers: [WaitingConsumer])? = state.withLock { state in
            // Sees every earlier record change, because the writer publishes record changes before it releases the
            // allocator.
            guard !state.isHeld, !state.isClosed, revision.map({ changes.end <= $0 }) ?? true else { return nil }
            guard max(state.mark.last, now.rawValue) + UInt64(drafts.count) <= state.mark.reserved else { return nil }
            let events = drafts.takeEvents(from: state.mark.next(drafts.count, now: now))
            return (events, state.show(events, upTo: state.mark.last, in: tail, now: now))
        }
        guard let passed else { return nil }
        // The waiting consumers are woken outside the lock. If their event loop has ended, the thread that wakes a
        // consumer also runs it.
        for consumer in passed.consumers { consumer.wake() }
        return passed.events
    }

    // MARK: The writer

    /// Holds the allocator for the writer. No other thread can assign timetokens until
    /// ``release(_:showing:evenNone:now:)`` is called.
    func hold() -> Mark {
        state.withLock { state in
            state.isHeld = true
            return state.mark
        }
    }

    /// Makes the writer's events visible and releases the allocator.
    ///
    /// - Parameter evenNone: true to move the watermark even if there are no events.
    func release(_ mark: Mark, showing events: [Event], evenNone: Bool = false, now: Timetoken) {
        let consumers = state.withLock { state in
            state.mark = mark
            state.isHeld = false
            return events.isEmpty && !evenNone ? [] : state.show(events, upTo: mark.last, in: tail, now: now)
        }
        for consumer in consumers { consumer.wake() }
    }

    /// Closes the allocator for all threads except the writer. Afterwards, only the writer assigns timetokens.
    func close() { state.withLock { $0.isClosed = true } }

    // MARK: Readers

    /// The position of an app in the log; see ``AppPositions``.
    func position(of app: AppID) -> Timetoken { state.withLock { $0.positions.position(of: app) } }

    /// Returns the ephemeral events of an app after `position`, up to and including `end`, oldest first.
    func passingEvents(in app: AppID, after position: Timetoken, upTo end: Timetoken) -> [Event] {
        state.withLock { $0.passing.events(in: app, after: position, upTo: end) }
    }

    /// Returns the ephemeral events of all apps after `position`, up to and including `end`, app by app.
    func passingEvents(after position: Timetoken, upTo end: Timetoken) -> [Event] {
        state.withLock { $0.passing.events(after: position, upTo: end) }
    }

    /// Returns the ephemeral event with this timetoken; nil when it is not in memory.
    func passingEvent(at timetoken: Timetoken, in app: AppID) -> Event? {
        passingEvents(in: app, after: Timetoken(max(timetoken.rawValue, 1) - 1), upTo: timetoken).first
    }

    /// Removes expired ephemeral events of all apps.
    func sweepPassingEvents(now: Timetoken) { state.withLock { $0.passing.sweep(now: now) } }
}
