import ChatModel
import Locking

/// Where schemas are compiled, compared and stored: one piece of work at a time, in the order it came, and never on the
/// loop. One at a time, because a compile may take a fifth of a second of CPU: declarations shall not take the machine
/// from those who emit.
final class Workshop: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func run<Result: Sendable>(
        _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        await enter()
        defer { leave() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(ChatError) in
            try await work()
        }
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isBusy else {
                    state.isBusy = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
