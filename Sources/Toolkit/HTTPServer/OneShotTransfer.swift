import Synchronization

/// What is handed over once, or dropped: exactly one of both closures is called.
final class OneShotTransfer<Taken>: Sendable {
    private let onOpen: @Sendable (Taken) -> Void
    private let onDrop: @Sendable () -> Void
    private let isOpen = Atomic(false)

    /// - Parameter onDrop: called when nobody holds it any more and it was never opened; from any thread.
    init(onOpen: @escaping @Sendable (Taken) -> Void, onDrop: @escaping @Sendable () -> Void) {
        self.onOpen = onOpen
        self.onDrop = onDrop
    }

    deinit {
        if !isOpen.load(ordering: .relaxed) { onDrop() }
    }

    func open(_ taken: Taken) {
        isOpen.store(true, ordering: .relaxed)
        onOpen(taken)
    }
}
