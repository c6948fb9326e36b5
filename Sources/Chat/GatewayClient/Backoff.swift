/// The delays between retries: each twice as long as the last, within bounds, with jitter against synchronized clients.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration

    package init(first: Duration, most: Duration) {
        self.first = first
        self.most = most
    }

    /// Returns the delay after a number of failures. Half of it is fixed, the other half random.
    ///
    /// - Parameters:
    ///   - failures: the number of failed attempts, from 1.
    ///   - draw: a random number from 0 up to 1.
    package func delay(after failures: Int, draw: Double = .random(in: 0..<1)) -> Duration {
        min(most, first * (1 << min(max(failures - 1, 0), 20))) * (0.5 + draw / 2)
    }
}
