import Locking

/// Holds back everyone who passes until it is opened: how a test delays an answer without a clock.
///
/// Passing has no time limit: a server passes, and what waits for its answer is limited.
public final class Latch: Sendable {
    private struct State {
        var isOpen: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// How many have come to pass, whether it was open or not.
    public let arrivals = Observed(0)
    private let state: Monitor<State>

    public init(isOpen: Bool = false) { state = Monitor(State(isOpen: isOpen)) }

    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        state.wakeAll()
        for continuation in waiting { continuation.resume() }
    }

    /// Does not end when the task is cancelled.
    public func pass() async {
        arrivals.increment()
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the calling thread, which must not be one of the cooperative pool.
    public func passBlocking() {
        arrivals.increment()
        state.wait { state in state.isOpen ? .done(()) : .sleep }
    }
}
