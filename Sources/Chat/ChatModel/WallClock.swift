import Glibc

/// The time of day, handed in so that tests decide it. Steps and goes backwards like any wall clock: only `EventLog`
/// makes it monotonic.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Timetoken

    public init(_ read: @escaping @Sendable () -> Timetoken) { self.read = read }

    public var now: Timetoken { read() }

    /// The machine's clock.
    public static let system = WallClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timetoken(UInt64(time.tv_sec) * Timetoken.ticksPerSecond + UInt64(time.tv_nsec) / 100)
    }
}
