import ChatModel
import Locking
import SQLite

/// The attempts of one call that wait to be recorded.
struct FinishedAttempts: Sendable {
    let attempts: [(lease: Lease, outcome: DeliveryOutcome)]
    /// Nil for an attempt whose lease was lost.
    let keys: [DeliveryKey?]
    let completion: Completion<[Bool]>
}

/// Finished attempts that wait briefly for others, so that one commit records many. No caller needs the result of a
/// delivery at once, and a commit costs as much as several deliveries.
final class AttemptBatcher: Sendable {
    /// The time that the first attempt waits (10 ms), and the number of attempts that are written without waiting
    /// longer.
    static let longestWait: UInt64 = 10_000_000
    private static let enough = 128

    private struct State {
        var waiting: [FinishedAttempts] = []
        var attempts = 0
        /// The uptime at which the waiting attempts are to be written; nil when there are none.
        var due: UInt64?

        mutating func removeAll() -> [FinishedAttempts] {
            defer { self = State() }
            return waiting
        }
    }

    private let state = Lock(State())

    /// Adds finished attempts.
    ///
    /// - Returns: the attempts to write now; or, for the first that waits, the uptime at which to ask again.
    func add(_ finished: FinishedAttempts) -> (ready: [FinishedAttempts], callAt: UInt64?) {
        state.withLock { state in
            state.waiting.append(finished)
            state.attempts += finished.attempts.count
            if state.attempts >= Self.enough { return (state.removeAll(), nil) }
            guard state.due == nil else { return ([], nil) }
            let due = MonotonicTime.now.nanoseconds + Self.longestWait
            state.due = due
            return ([], due)
        }
    }

    /// The uptime at which the waiting attempts are due; nil when none wait.
    var nextDue: UInt64? { state.withLock { $0.due } }

    /// Removes and returns the attempts that are due at `moment`.
    func due(at moment: UInt64) -> [FinishedAttempts] {
        state.withLock { state in
            guard let due = state.due, due <= moment else { return [] }
            return state.removeAll()
        }
    }
}

/// A request that records the collected attempts in one commit.
final class FinishRequest: WriteRequest {
    let since: UInt64
    private let finished: [FinishedAttempts]
    private let scheduler: DeliveryScheduler

    init(_ finished: [FinishedAttempts], scheduler: DeliveryScheduler, since: UInt64) {
        self.finished = finished
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        for one in finished {
            let recorded = try writer.finish(one.attempts, one.keys, scheduler: scheduler)
            writer.answers.append { one.completion.answer(.success(recorded)) }
        }
    }

    func fail(_ error: ChatError) {
        for one in finished { one.completion.answer(.failure(error)) }
    }
}
