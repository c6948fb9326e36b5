internal import Locking

/// A closure that a thread of the client library calls, and that can be shut: after ``end()`` has returned, the closure
/// is not running and is never called again.
final class CallbackGate<Input: Sendable>: Sendable {
    private struct State {
        var body: (@Sendable (Input) -> Void)?
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(_ body: @escaping @Sendable (Input) -> Void) { state = Lock(State(body: body)) }

    /// Calls the closure, unless the gate is shut.
    func call(_ input: Input) {
        let body = state.withLock { state in
            if state.body != nil { state.running += 1 }
            return state.body
        }
        guard let body else { return }
        body(input)
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Shuts the gate and releases the closure, without waiting for a call that is under way.
    func shut() { state.withLock { $0.body = nil } }

    /// Shuts the gate and waits for a call that is under way.
    func end() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.body = nil
                if state.running == 0 { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
