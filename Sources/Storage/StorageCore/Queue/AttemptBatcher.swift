package import ChatModel
import Locking

/// The finished delivery attempts of one call that wait to be recorded in the database.
package struct FinishedAttempts: Sendable {
    package let attempts: [(lease: Lease, outcome: DeliveryOutcome)]
    /// The delivery of each attempt; nil for an attempt whose lease was lost.
    package let keys: [DeliveryKey?]
    package let completion: Completion<[Bool]>
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
