import ChatModel
import Locking

/// Where the log grows: gives out timetokens, and makes what got one visible, in one order for everybody.
///
/// The writer holds it from a batch's first place until the batch is visible or taken back. While nobody holds it,
/// passing events get their places on the thread of whoever emits them: they have no disk to wait for, and nothing
/// with an earlier place is still invisible.
final class TimetokenAllocator: Sendable {
    /// The last timetoken given out, and the file's word up to where they may have been.
    struct Mark: Sendable {
        /// Never goes back; a batch taken back leaves a gap.
        var last: UInt64
        var reserved: UInt64

        /// Gives out the next timetoken: the time, or one more than the last.
        mutating func next(now: Timetoken) -> UInt64 {
            last = max(last + 1, now.rawValue)
            return last
        }
    }

    private struct State: Sendable {
        var mark: Mark
        var isHeld = false
        var isClosed = false
    }

    private let state: Lock<State>
    private let tail: Tail
    private let passing: PassingEvents
    private let positions: AppPositions

    init(tail: Tail, passing: PassingEvents, positions: AppPositions) {
        self.tail = tail
        self.passing = passing
        self.positions = positions
        let start = tail.watermark.rawValue
        state = Lock(State(mark: Mark(last: start, reserved: start)))
    }

    /// Places for passing events, which are visible when this returns; nil where they have to take their turn with the
    /// writer.
    ///
    /// - Parameter mayPass: asked while nobody can hold the end.
    func pass(_ drafts: [EventDraft], now: Timetoken, if mayPass: () -> Bool = { true }) -> [Appended]? {
        guard !drafts.isEmpty, drafts.allSatisfy({ $0.retention == .passing && $0.deduplicationKey == nil }) else {
            return nil
        }
        let passed: (events: [Event], sleepers: [CheckedContinuation<Void, Never>])? = state.withLock { state in
            guard !state.isHeld, !state.isClosed, mayPass() else { return nil }
            guard max(state.mark.last, now.rawValue) + UInt64(drafts.count) <= state.mark.reserved else { return nil }
            let events = drafts.map { Event(timetoken: Timetoken(state.mark.next(now: now)), draft: $0) }
            return (events, show(events, upTo: state.mark.last, now: now))
        }
        guard let passed else { return nil }
        // Outside the lock: on a loop that has ended, whoever wakes a job runs it.
        for sleeper in passed.sleepers { sleeper.resume() }
        return passed.events.map { Appended(event: $0, isDuplicate: false) }
    }

    // MARK: The writer

    /// From now on places are the writer's alone.
    func hold() -> Mark {
        state.withLock { state in
            state.isHeld = true
            return state.mark
        }
    }

    /// Makes events of the writer's visible and gives the end back.
    ///
    /// - Parameter evenNone: whether the watermark moves without any, too.
    func release(_ mark: Mark, showing events: [Event], evenNone: Bool = false, now: Timetoken) {
        let sleepers = state.withLock { state in
            state.mark = mark
            state.isHeld = false
            return events.isEmpty && !evenNone ? [] : show(events, upTo: mark.last, now: now)
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// No more places outside the writer.
    func close() { state.withLock { $0.isClosed = true } }

    private func show(_ events: [Event], upTo last: UInt64, now: Timetoken) -> [CheckedContinuation<Void, Never>] {
        passing.add(events, now: now)
        let sleepers = tail.add(Commit(events: events, watermark: Timetoken(last)))
        positions.note(events)
        return sleepers
    }
}

/// How far the log has come for each app: its newest event, or where the log was when it was opened. What others emit does
/// not show in it.
final class AppPositions: Sendable {
    private let start: Timetoken
    private let newest = Lock<[AppID: Timetoken]>([:])

    init(start: Timetoken) { self.start = start }

    func position(of app: AppID) -> Timetoken { newest.withLock { $0[app] } ?? start }

    /// Events that have become visible, oldest first.
    func note(_ events: [Event]) {
        guard !events.isEmpty else { return }
        newest.withLock { newest in
            for (index, event) in events.enumerated() {
                // Most commits are of one app.
                let isLast = index + 1 == events.count || events[index + 1].channel.app != event.channel.app
                if isLast { newest[event.channel.app] = event.timetoken }
            }
        }
    }
}
