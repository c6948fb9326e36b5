/// How long to wait before asking again: twice as long each time, within bounds, and never in step with others.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration

    /// A request that failed on its way.
    package static let request = Backoff(first: .milliseconds(200), most: .seconds(5))
    /// A stream that broke.
    package static let stream = Backoff(first: .milliseconds(500), most: .seconds(30))

    /// - Parameters:
    ///   - attempt: how many have failed, from 1.
    ///   - draw: from 0 up to 1. Half of the delay is fixed, the other half drawn.
    package func delay(afterAttempt attempt: Int, draw: Double) -> Duration {
        let full = min(most, first * (1 << min(max(attempt - 1, 0), 20)))
        return full * (0.5 + draw / 2)
    }
}
