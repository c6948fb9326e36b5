import Locking

/// Holds threads back until it is opened: how a test delays an answer without a clock.
public final class Gate: Sendable {
    private let state = Monitor(false)

    public init(isOpen: Bool = false) { state.withLock { $0 = isOpen } }

    public func open() {
        state.withLock { $0 = true }
        state.wakeAll()
    }

    /// Blocks the calling thread, which must not be one of the cooperative pool.
    func pass() {
        state.wait { isOpen in isOpen ? .done(()) : .sleep }
    }
}
