import Locking

/// How many attempts are under way, and who waits for the last one to end.
final class InFlightAttempts: Sendable {
    private struct State {
        var taken = 0
        var isDraining = false
        var sleepers: [CheckedContinuation<Void, Never>] = []

        mutating func takeSleepers() -> [CheckedContinuation<Void, Never>] {
            defer { sleepers = [] }
            return sleepers
        }
    }

    private let state = Lock(State())

    var taken: Int { state.withLock { $0.taken } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Takes slots; false when no more attempts may begin.
    func take(_ count: Int) -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.taken += count
            return true
        }
    }

    func giveBack(_ count: Int) {
        let sleepers = state.withLock { state in
            state.taken -= count
            return state.taken == 0 ? state.takeSleepers() : []
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// From now on nobody gets a slot; returns when all have been given back, or when cancelled.
    func drain() async {
        state.withLock { $0.isDraining = true }
        while !Task.isCancelled, taken > 0 { await sleep() }
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.taken > 0, !Task.isCancelled else { return false }
                    state.sleepers.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            // Everybody is woken: each looks again and sleeps on if it is not meant.
            for sleeper in state.withLock({ $0.takeSleepers() }) { sleeper.resume() }
        }
    }
}
