import ChatModel
import Locking

/// Runs jobs one at a time and never on the event loop, with fair queuing: apps with waiting jobs run one job each in
/// turn. Jobs compile, compare and store schemas, or validate large payloads. A compilation may take 0.2 seconds of CPU
/// time, so running one job at a time prevents declarations from slowing down emits.
final class FairQueue: Sendable {
    private struct State {
        var isBusy = false
        /// The waiting jobs by app, in the order of arrival.
        var waiting: [AppID: [CheckedContinuation<Void, Never>]] = [:]
        /// The apps with waiting jobs, in the order in which their next jobs run.
        var turns: [AppID] = []
    }

    static let abandoned = ChatError(
        .unavailable, "the request was cancelled; nothing was stored")

    private let state = Lock(State())

    /// The number of waiting jobs.
    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    /// Waits until `work` is the next job of the queue, and then runs `work` away from the event loop. Apps with
    /// waiting jobs take turns.
    ///
    /// - Throws: `abandoned` when the task was cancelled while it waited; the errors of `work`.
    func run<Result: Sendable>(
        for app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        await enter(app)
        defer { leave() }
        guard !Task.isCancelled else { throw Self.abandoned }
        return try await Self.offLoop(work)
    }

    /// Runs `work` away from the event loop, without waiting in the queue. Used by the task that applies the changes of
    /// other nodes. That task must not wait for declarations on this node.
    static func offLoop<Result: Sendable>(
        _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        try await asLongWork { () async throws(ChatError) in try await work() }
    }

    private func enter(_ app: AppID) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                if state.waiting[app] == nil { state.turns.append(app) }
                state.waiting[app, default: []].append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.turns.isEmpty else {
                state.isBusy = false
                return nil
            }
            let app = state.turns.removeFirst()
            let next = state.waiting[app]?.removeFirst()
            if state.waiting[app]?.isEmpty ?? true {
                state.waiting[app] = nil
            } else {
                state.turns.append(app)
            }
            return next
        }
        next?.resume()
    }
}
