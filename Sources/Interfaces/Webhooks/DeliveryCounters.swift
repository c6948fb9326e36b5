import ChatModel
import Locking

/// What is counted while planning and sending.
final class DeliveryCounters: Sendable {
    private struct State {
        var attempts: [String: UInt64] = [:]
        var planned: UInt64 = 0
        var dead: UInt64 = 0
        /// By app: the newest commit heard of, and how far planning has come.
        var heardOf: [AppID: Timetoken] = [:]
        var reached: [AppID: Timetoken] = [:]
    }

    private let state = Lock(State())

    func addPlanned(_ count: Int) { state.withLock { $0.planned += UInt64(count) } }

    func addAttempts(_ kinds: some Sequence<String>) {
        state.withLock { state in
            for kind in kinds { state.attempts[kind, default: 0] += 1 }
        }
    }

    func addDead(_ count: Int = 1) { state.withLock { $0.dead += UInt64(count) } }

    func planner(of app: AppID, heardOf position: Timetoken) {
        state.withLock { $0.heardOf[app] = position }
    }

    func planner(of app: AppID, reached position: Timetoken) {
        state.withLock { $0.reached[app] = position }
    }

    func fill(_ metrics: inout WebhookMetrics) {
        let state = state.withLock { $0 }
        metrics.attempts = state.attempts
        metrics.planned = state.planned
        metrics.dead = state.dead
        metrics.plannerLagTicks =
            state.heardOf.map { app, heardOf in
                let reached = state.reached[app] ?? .zero
                return heardOf > reached ? heardOf.rawValue - max(reached.rawValue, 0) : 0
            }.max() ?? 0
    }
}
