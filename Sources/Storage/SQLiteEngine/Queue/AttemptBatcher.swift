import ChatModel
import Locking
import SQLite

/// Attempts of one call that wait to be recorded.
struct FinishedAttempts: Sendable {
    let attempts: [(lease: Lease, outcome: DeliveryOutcome)]
    /// None where the lease was lost.
    let keys: [DeliveryKey?]
    let completion: Completion<[Bool]>
}

/// Finished attempts that wait a moment for others, so that one commit serves many: nobody is in a hurry to read that a
/// delivery has arrived, and a commit costs as much as several deliveries.
final class AttemptBatcher: Sendable {
    /// How long the first one waits, and how many do not wait longer.
    static let patience: UInt64 = 10_000_000
    private static let enough = 128

    private struct State {
        var waiting: [FinishedAttempts] = []
        var attempts = 0
        /// Uptime at which they are to be written; nil while there are none.
        var due: UInt64?

        mutating func takeAll() -> [FinishedAttempts] {
            defer { self = State() }
            return waiting
        }
    }

    private let state = Lock(State())

    /// - Returns: what is to be written now; or when to ask again, for the first that waits.
    func add(_ finished: FinishedAttempts) -> (ready: [FinishedAttempts], callAt: UInt64?) {
        state.withLock { state in
            state.waiting.append(finished)
            state.attempts += finished.attempts.count
            if state.attempts >= Self.enough { return (state.takeAll(), nil) }
            guard state.due == nil else { return ([], nil) }
            let due = uptimeNanoseconds() + Self.patience
            state.due = due
            return ([], due)
        }
    }

    /// When what waits has waited long enough; nil when nothing does.
    var nextDue: UInt64? { state.withLock { $0.due } }

    /// What has waited long enough by then.
    func due(at moment: UInt64) -> [FinishedAttempts] {
        state.withLock { state in
            guard let due = state.due, due <= moment else { return [] }
            return state.takeAll()
        }
    }
}

/// Records gathered attempts in one commit.
final class FinishRequest: WriteRequest {
    let since: UInt64
    private let finished: [FinishedAttempts]
    private let scheduler: DeliveryScheduler

    init(_ finished: [FinishedAttempts], scheduler: DeliveryScheduler, since: UInt64) {
        self.finished = finished
        self.scheduler = scheduler
        self.since = since
    }

    var drafts: Int { 0 }
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
