public import ChatModel
import Synchronization

/// Limits that an operator may exchange while they are read everywhere: a reader follows one pointer, without a lock.
///
/// Those that were in force before are kept until the end, because a reader may still be at them: some hundred bytes for
/// each time the settings are read again.
public final class LiveLimits: Sendable {
    private final class RecordEdition: Sendable {
        let limits: Limits
        let before: RecordEdition?

        init(_ limits: Limits, after before: RecordEdition?) {
            self.limits = limits
            self.before = before
        }
    }

    /// Holds one reference, which is let go of at the end.
    private let newest: Atomic<Unmanaged<RecordEdition>>

    public init(_ limits: Limits) {
        newest = Atomic(.passRetained(RecordEdition(limits, after: nil)))
    }

    deinit { newest.load(ordering: .acquiring).release() }

    /// The limits now.
    public var current: Limits {
        newest.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.limits }
    }

    /// Makes others count, from the next question on. For one caller at a time.
    public func replace(by limits: Limits) {
        // The reference that `newest` held is the one the new edition keeps.
        let before = newest.load(ordering: .acquiring).takeRetainedValue()
        newest.store(.passRetained(RecordEdition(limits, after: before)), ordering: .releasing)
    }
}
