import Locking

/// How many attempts are under way, and who waits for one to end.
final class Slots: Sendable {
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
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    var taken: Int { state.withLock { $0.taken } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Takes a slot; false when no more attempts may begin.
    func take() -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.taken += 1
            return true
        }
    }

    func giveBack() {
        let sleepers = state.withLock { state in
            state.taken -= 1
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// How many slots are free; waits until there is one. Nil when no more attempts may begin, or the task was cancelled.
    func free() async -> Int? {
        while !Task.isCancelled {
            let (count, isDraining) = state.withLock { (limit - $0.taken, $0.isDraining) }
            if isDraining { return nil }
            if count > 0 { return count }
            await sleep { $0.taken >= self.limit && !$0.isDraining }
        }
        return nil
    }

    /// From now on nobody gets a slot; returns when all have been given back, or when cancelled.
    func drain() async {
        let sleepers = state.withLock { state in
            state.isDraining = true
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
        while !Task.isCancelled, taken > 0 { await sleep { $0.taken > 0 } }
    }

    private func sleep(while condition: @escaping @Sendable (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard condition(state), !Task.isCancelled else { return false }
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
