/// A rate limit by the generic cell rate algorithm: a bucket of units that fills evenly over a window.
///
/// The state of a bucket is one number: the time at which it is full. The caller stores this number; a new bucket
/// starts with 0. All times are in nanoseconds of the same clock.
public struct GenericCellRate: Hashable, Sendable {
    /// The time in which an empty bucket fills, in nanoseconds.
    public let window: UInt64
    /// The time in which one unit is added, in nanoseconds; at least 1, at most `window`.
    public let cost: UInt64

    /// Creates a limit: a full bucket has `window / cost` units, and one unit is added every `cost` nanoseconds.
    public init(window: UInt64, cost: UInt64) {
        self.cost = max(1, cost)
        self.window = max(self.cost, window)
    }

    /// The outcome of a request for units.
    public enum Decision: Equatable, Sendable {
        /// Enough units are available. The caller consumes them by storing `fullAt` as the new state.
        case consumed(fullAt: UInt64)
        /// Too few units are available. Enough units are available after the associated number of nanoseconds.
        case wait(UInt64)
    }

    /// Decides whether a bucket has `count` units. If `count` is greater than the capacity, the result is
    /// `.wait(.max)`.
    public func consume(_ count: Int = 1, fullAt: UInt64, at now: UInt64) -> Decision {
        let price = price(of: count)
        guard price <= window else { return .wait(.max) }
        let after = start(fullAt, now) + price
        return after <= now + window ? .consumed(fullAt: after) : .wait(after - now - window)
    }

    /// The new state of a bucket after one unit is consumed, even if the bucket was empty.
    public func spent(fullAt: UInt64, at now: UInt64) -> UInt64 { start(fullAt, now) + cost }

    /// The new state of a bucket after `count` consumed units are returned to it.
    public func returned(_ count: Int, fullAt: UInt64) -> UInt64 { fullAt - min(fullAt, price(of: count)) }

    /// The time until the bucket is full, in nanoseconds.
    public func missing(fullAt: UInt64, at now: UInt64) -> UInt64 { start(fullAt, now) - now }

    /// The earliest time at which the bucket has one unit.
    public func next(fullAt: UInt64) -> UInt64 { fullAt - min(fullAt, window - cost) }

    private func price(of count: Int) -> UInt64 {
        let (price, isOver) = cost.multipliedReportingOverflow(by: UInt64(max(0, count)))
        return isOver ? .max : price
    }

    /// The time at which the bucket is full. A stored time later than one window from now was written before the clock
    /// was set back; the bucket then counts as full.
    private func start(_ fullAt: UInt64, _ now: UInt64) -> UInt64 { fullAt > now + window ? now : max(fullAt, now) }
}
