internal import Synchronization

/// How many are left of a number of things that end on any thread.
final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    /// One more has ended. True for the last one.
    func countsToZero() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
