import Glibc

/// A point on the machine's monotonic clock. For deadlines, not for dates.
public struct MonotonicTime: Comparable, Sendable {
    /// Nanoseconds since an arbitrary start, usually the boot. For differences, and for atomic values.
    public var nanoseconds: UInt64

    /// A time of the monotonic clock, in nanoseconds since its start.
    @inlinable
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The current time.
    public static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time after a delay; a negative delay counts as none.
    public static func + (time: MonotonicTime, delay: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds &+ delay.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to the range from 0 to 100 years, so that adding it to a time of the clock never
    /// overflows.
    public var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        let century: Int64 = 100 * 365 * 86_400
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < century else { return UInt64(century) * 1_000_000_000 }
        return UInt64(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
