import Locking

/// Something that goes on until it is closed or released: a listener.
///
/// Its closure is called for one event at a time, in their order.
public final class AutoCloseable: Sendable {
    private enum State {
        case opening([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Lock(State.opening([]))
    private let task = Lock<Task<Void, Never>?>(nil)

    /// - Parameter work: runs until it is cancelled; calls its argument when nothing that happens from then on is missed.
    init(_ work: @escaping @Sendable (_ opened: @escaping @Sendable () -> Void) async -> Void) {
        let opened: @Sendable () -> Void = { [weak self] in self?.open() }
        let running = Task {
            await work(opened)
            opened()
        }
        task.withLock { $0 = running }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Stops it. The closure may be running at this moment; it is not called again. Idempotent.
    public func close() { task.withLock { $0 }?.cancel() }

    /// Returns when everything that happens from now on will be told: at once if that is so already, and also when
    /// following has failed or was closed.
    public func ready() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .opening(let waiting) = state else { return true }
                state = .opening(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    private func open() {
        let waiting = state.withLock { state in
            defer { state = .open }
            if case .opening(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }
}
