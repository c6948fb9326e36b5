import ChatModel
import Locking

/// Counts the attempts under way, and lets a caller wait until the last one has ended.
final class InFlightAttempts: Sendable {
    private struct State {
        var count = 0
        var isDraining = false
        var sleepers: [CheckedContinuation<Void, Never>] = []

        mutating func removeSleepers() -> [CheckedContinuation<Void, Never>] {
            defer { sleepers = [] }
            return sleepers
        }
    }

    private let state = Lock(State())

    var count: Int { state.withLock { $0.count } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Adds attempts; false when no more attempts may begin.
    func begin(_ added: Int) -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.count += added
            return true
        }
    }

    func end(_ ended: Int) {
        let sleepers = state.withLock { state in
            state.count -= ended
            return state.count == 0 ? state.removeSleepers() : []
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Permits no further attempts. Returns when all have ended, or when cancelled.
    func drain() async {
        state.withLock { $0.isDraining = true }
        while !Task.isCancelled, count > 0 { await sleep() }
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count > 0, !Task.isCancelled else { return false }
                    state.sleepers.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            // Wakes every waiting task; each checks the count again.
            for sleeper in state.withLock({ $0.removeSleepers() }) { sleeper.resume() }
        }
    }
}

/// Limits the bytes of batch posts under way. Each body is in memory twice until the response comes, and with a
/// thousand connections these would otherwise take gigabytes.
final class BatchByteLimit: Sendable {
    private struct State {
        var free: Int
        var held: [AppID: Int] = [:]
    }

    private let state: Lock<State>

    init(bytes: Int) { state = Lock(State(free: bytes)) }

    /// Reserves bytes when that leaves enough for other apps: an app alone gets seven eighths, as with attempts.
    func reserve(_ bytes: Int, for app: AppID) -> Bool {
        // Posts of one event are not counted.
        guard bytes > 0 else { return true }
        return state.withLock { state in
            let held = state.held[app, default: 0] + bytes
            guard held / 7 <= state.free - bytes else { return false }
            state.free -= bytes
            state.held[app] = held
            return true
        }
    }

    func release(_ bytes: Int, for app: AppID) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.free += bytes
            let held = state.held[app, default: 0] - bytes
            state.held[app] = held == 0 ? nil : held
        }
    }
}
