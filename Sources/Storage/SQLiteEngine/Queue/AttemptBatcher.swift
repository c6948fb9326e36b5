import ChatModel
import Locking
import SQLite
import StorageCore

/// The finished delivery attempts of one call that wait to be recorded in the database.
struct FinishedAttempts: Sendable {
    let attempts: [(lease: Lease, outcome: DeliveryOutcome)]
    /// The delivery of each attempt; nil for an attempt whose lease was lost.
    let keys: [DeliveryKey?]
    let completion: Completion<[Bool]>
}

/// Collects finished delivery attempts for a short time, so that one commit records many of them. A commit costs as
/// much as several deliveries, and no caller needs the result of a delivery immediately.
final class AttemptBatcher: Sendable {
    /// The maximum time for which attempts are collected (10 ms). When `enough` attempts have been collected, they are
    /// written earlier.
    static let longestWait: UInt64 = 10_000_000
    private static let enough = 128

    private struct State {
        var waiting: [FinishedAttempts] = []
        var attempts = 0
        /// The uptime in nanoseconds at which the collected attempts must be written; nil when there are none.
        var due: UInt64?

        mutating func removeAll() -> [FinishedAttempts] {
            defer { self = State() }
            return waiting
        }
    }

    private let state = Lock(State())

    /// Adds finished attempts to the collected ones.
    ///
    /// - Returns: the attempts to write now. If these are the first collected attempts, also the uptime at which the
    ///   caller must call ``due(at:)``.
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

    /// The uptime in nanoseconds at which the collected attempts must be written; nil when there are none.
    var nextDue: UInt64? { state.withLock { $0.due } }

    /// Removes and returns the collected attempts if they must be written by `moment`; otherwise returns none.
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
