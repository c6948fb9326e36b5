/// The delays between retries. The delay doubles after each failure up to a maximum, and half of it is random, so that
/// clients do not retry at the same moment.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration

    package init(first: Duration, most: Duration) {
        self.first = first
        self.most = most
    }

    /// Returns the delay after a number of failures. Half of the delay is fixed, the other half random.
    ///
    /// - Parameters:
    ///   - failures: the number of failed attempts, from 1.
    ///   - draw: a random number from 0 (inclusive) to 1 (exclusive).
    package func delay(after failures: Int, draw: Double = .random(in: 0..<1)) -> Duration {
        min(most, first * (1 << min(max(failures - 1, 0), 20))) * (0.5 + draw / 2)
    }
}
