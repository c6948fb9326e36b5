import Locking

/// The hints that the bus has received and the follower has not yet taken. Their size is bounded. When it is full, the
/// hints are dropped, and the follower reads the store instead.
final class HintInbox: Sendable {
    /// An element of the inbox.
    enum Entry: Sendable {
        case hint([UInt8])
        /// Hints may be missing.
        case missed
    }

    private struct State: Sendable {
        var hints: [[UInt8]] = []
        /// The index of the oldest hint.
        var first = 0
        var bytes = 0
        var hasMissed = false
    }

    private let state = Lock(State())
    private let signal = AsyncSignal()
    private let capacity: Int

    /// - Parameter capacity: the maximum size of the hints in bytes.
    init(capacity: Int = 32 * 1024 * 1024) { self.capacity = capacity }

    func add(_ hint: [UInt8]) {
        state.withLock { state in
            if state.bytes + hint.count > capacity { state = State(hasMissed: true) }
            state.hints.append(hint)
            state.bytes += hint.count
        }
        signal.send()
    }

    /// Records that hints may be missing.
    func miss() {
        state.withLock { $0.hasMissed = true }
        signal.send()
    }

    /// Waits for the next entry; nil when the task is cancelled.
    func next() async -> Entry? {
        while !Task.isCancelled {
            let entry = state.withLock { state -> Entry? in
                if state.hasMissed {
                    state.hasMissed = false
                    return .missed
                }
                guard state.first < state.hints.count else { return nil }
                let hint = state.hints[state.first]
                state.first += 1
                state.bytes -= hint.count
                if state.first == state.hints.count || state.first > 1024 {
                    state.hints.removeFirst(state.first)
                    state.first = 0
                }
                return .hint(hint)
            }
            if let entry { return entry }
            await signal.wait()
        }
        return nil
    }
}
