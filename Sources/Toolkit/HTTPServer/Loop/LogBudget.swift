/// What the logs of several broadcasts may take of memory together, beyond the little that each begins with.
///
/// Past it no log grows for those who lag: they are overtaken, closed as too slow, and come back with their last event id.
///
/// Belongs to its loop, like the broadcasts: every member is for code that runs on it.
public final class LogBudget: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    private let loop: Loop
    private var bytes: Int
    private var used = 0

    /// - Parameter bytes: what all logs may take together.
    public init(loop: Loop, bytes: Int) {
        self.loop = loop
        self.bytes = bytes
    }

    /// What all logs take now, in bytes; more than the limit only by what they must have to send at all.
    public var usedBytes: Int {
        loop.checkIsolated()
        return used
    }

    /// Changes what they may take. A log that has grown keeps what it has until it is unused or nobody is behind.
    public func setLimit(_ bytes: Int) {
        loop.checkIsolated()
        self.bytes = bytes
    }

    /// Whether a log had better give back what it does not need at the moment.
    var isScarce: Bool { used > bytes / 4 * 3 }

    func allows(_ more: UInt64) -> Bool { UInt64(used) &+ more <= UInt64(max(0, bytes)) }

    func change(from old: UInt64, to new: UInt64) { used += Int(new) - Int(old) }
}
