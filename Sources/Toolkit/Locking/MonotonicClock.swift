import Glibc

/// A time of the machine's monotonic clock. Use it for deadlines and not for dates. The clock stops while the machine
/// is suspended.
public struct MonotonicTime: Comparable, Sendable {
    /// The nanoseconds since the start of the clock, which is usually the boot of the machine.
    public var nanoseconds: UInt64

    /// Creates a time from nanoseconds since the start of the clock.
    @inlinable
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The current time of the monotonic clock.
    public static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the nanoseconds from `earlier` to this time, or zero if `earlier` is later.
    @inlinable
    public func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    /// Returns the time after a delay. A negative delay counts as zero.
    public static func + (time: MonotonicTime, delay: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds &+ delay.nanoseconds)
    }
}

extension Duration {
    /// The duration in whole nanoseconds. The value is limited to the range from 0 to 100 years, so that adding it to a
    /// ``MonotonicTime`` never overflows.
    public var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        let century: Int64 = 100 * 365 * 86_400
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < century else { return UInt64(century) * 1_000_000_000 }
        return UInt64(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
