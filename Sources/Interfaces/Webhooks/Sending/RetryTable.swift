/// When a delivery is tried again (`conventions.md` 10; the example of the Standard Webhooks specification).
struct RetryTable: Sendable {
    /// Delays after the first, second, … attempt. When they are used up, the delivery is given up.
    let delays: [Duration]
    /// The share of a delay by which it is spread to either side, so that a receiver that comes back is not met by
    /// everything at one moment.
    let spread: Double

    static let standard = RetryTable(
        delays: [
            .seconds(5), .seconds(5 * 60), .seconds(30 * 60), .seconds(2 * 3600), .seconds(5 * 3600),
            .seconds(10 * 3600), .seconds(14 * 3600), .seconds(20 * 3600), .seconds(24 * 3600),
        ], spread: 0.2)

    /// A receiver may ask for a later attempt, up to this.
    static let longestRetryAfter: Duration = .seconds(24 * 3600)

    /// - Parameters:
    ///   - attempt: attempts made, from 1.
    ///   - draw: a number in 0..<1.
    /// - Returns: nil when no attempt is left.
    func delay(afterAttempt attempt: Int, draw: Double) -> Duration? {
        guard delays.indices.contains(attempt - 1) else { return nil }
        return delays[attempt - 1] * (1 - spread + 2 * spread * draw)
    }

    /// The table for a number of attempts: cut off, or the last delay repeated.
    func limited(toAttempts attempts: Int) -> RetryTable {
        let wanted = max(attempts - 1, 0)
        let more = max(wanted - delays.count, 0)
        let last = delays.last ?? .seconds(24 * 3600)
        return RetryTable(delays: delays.prefix(wanted) + Array(repeating: last, count: more), spread: spread)
    }
}
