/// A rate limit by the generic cell rate algorithm: a bucket of units that fills evenly over a window.
///
/// The state of a bucket is one number, the time at which it is full, which the user of the limit keeps; a new bucket
/// starts with 0. All times are in nanoseconds of one clock.
public struct GenericCellRate: Hashable, Sendable {
    /// The time in which an empty bucket fills.
    public let window: UInt64
    /// The time in which one unit fills; at least 1, at most the window.
    public let cost: UInt64

    /// Makes a limit of `window / cost` units at once, and one more whenever `cost` has passed.
    public init(window: UInt64, cost: UInt64) {
        self.cost = max(1, cost)
        self.window = max(self.cost, window)
    }

    /// The outcome of a request for units.
    public enum Decision: Equatable, Sendable {
        /// The units are taken when the bucket is full at this time.
        case consumed(fullAt: UInt64)
        /// The bucket holds too little; the units are there after this time.
        case wait(UInt64)
    }

    /// Decides whether a bucket holds `count` units. A count above its capacity is never available: the wait is the
    /// largest number.
    public func consume(_ count: Int = 1, fullAt: UInt64, at now: UInt64) -> Decision {
        let price = price(of: count)
        guard price <= window else { return .wait(.max) }
        let after = start(fullAt, now) + price
        return after <= now + window ? .consumed(fullAt: after) : .wait(after - now - window)
    }

    /// The state of a bucket after one unit was taken from it, however much it held.
    public func spent(fullAt: UInt64, at now: UInt64) -> UInt64 { start(fullAt, now) + cost }

    /// The state of a bucket after `count` units were returned to it.
    public func returned(_ count: Int, fullAt: UInt64) -> UInt64 { fullAt - min(fullAt, price(of: count)) }

    /// The time that the bucket needs until it is full.
    public func missing(fullAt: UInt64, at now: UInt64) -> UInt64 { start(fullAt, now) - now }

    /// The earliest time at which the bucket holds one unit.
    public func next(fullAt: UInt64) -> UInt64 { fullAt - min(fullAt, window - cost) }

    private func price(of count: Int) -> UInt64 {
        let (price, isOver) = cost.multipliedReportingOverflow(by: UInt64(max(0, count)))
        return isOver ? .max : price
    }

    /// The time at which the bucket is full, at most one window from now. A later stored value was written before the
    /// clock was set back.
    private func start(_ fullAt: UInt64, _ now: UInt64) -> UInt64 { fullAt > now + window ? now : max(fullAt, now) }
}
