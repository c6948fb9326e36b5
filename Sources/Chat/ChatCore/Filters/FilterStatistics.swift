import Synchronization

/// Counts over all filters of the process.
public enum FilterStatistics {
    private static let exhausted = Atomic<UInt64>(0)

    /// Evaluations that ran out of steps, so that the filter did not match.
    public static var exhaustedCount: UInt64 { exhausted.load(ordering: .relaxed) }

    static func countExhausted() { exhausted.add(1, ordering: .relaxed) }
}
