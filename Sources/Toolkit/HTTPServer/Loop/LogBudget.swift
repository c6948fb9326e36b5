/// A memory limit that the logs of several broadcasts share. Each log may still allocate its initial size, and the
/// memory for one frame, when the limit is reached.
///
/// At the limit, no log grows for slow streams. New frames then overwrite the unsent bytes of these streams, the server
/// closes the streams as too slow, and the clients reconnect with their last event id.
///
/// Belongs to its loop, like the broadcasts: call every member on the loop's thread.
public final class LogBudget: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because each entry point checks that it runs on the loop's thread.

    private let loop: Loop
    private var bytes: Int
    private var used = 0

    /// Creates a budget that no log uses yet.
    ///
    /// - Parameter bytes: the maximum memory that all logs may use together.
    public init(loop: Loop, bytes: Int) {
        self.loop = loop
        self.bytes = bytes
    }

    /// The memory in bytes that all logs use now. It can exceed the limit, because each log may allocate its initial
    /// size and the memory for one frame regardless of the limit.
    public var usedBytes: Int {
        loop.checkIsolated()
        return used
    }

    /// Changes the limit, in bytes. A log that has already grown keeps its memory until it has no new frames or no
    /// stream needs the memory.
    public func setLimit(_ bytes: Int) {
        loop.checkIsolated()
        self.bytes = bytes
    }

    /// True when more than three quarters of the budget is used. Logs then free the memory that they do not need now.
    var isScarce: Bool { used > bytes / 4 * 3 }

    func allows(_ more: UInt64) -> Bool { UInt64(used) &+ more <= UInt64(max(0, bytes)) }

    func change(from old: UInt64, to new: UInt64) { used += Int(new) - Int(old) }
}
