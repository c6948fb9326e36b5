import GatewayClient

/// The rule by which the listeners of a chat reconnect.
///
/// ```swift
/// let chat = try await Chat(
///     url: "https://chat.example.com", key: "parley_…", user: "ana",
///     retry: RetryPolicy(.exponential(first: .milliseconds(500), most: .seconds(60)), limit: 10))
/// ```
/// A longer delay that the gateway asks for takes precedence. Requests have retries of their own (`RequestOptions`).
public struct RetryPolicy: Sendable {
    /// The growth of the delay between attempts.
    public enum Delay: Sendable {
        /// The same delay after each failure.
        case linear(Duration)
        /// Twice the last delay after each failure, within bounds. Up to half of each delay is random.
        case exponential(first: Duration, most: Duration)
    }

    /// The delay between attempts.
    public var delay: Delay
    /// The number of consecutive attempts to reconnect, after which the listeners fail; nil for no limit.
    public var limit: Int?

    /// A rule with a number of attempts; nil for no limit.
    public init(_ delay: Delay, limit: Int? = nil) {
        self.delay = delay
        self.limit = limit
    }

    /// Exponential from 200 ms to 30 s, without a limit.
    public static let standard = RetryPolicy(.exponential(first: .milliseconds(200), most: .seconds(30)))
    /// A listener whose connection is lost fails at once.
    public static let none = RetryPolicy(.linear(.zero), limit: 0)

    /// Returns the delay after a number of consecutive failures, or nil when there are no more attempts.
    func delay(after failures: Int) -> Duration? {
        if let limit, failures > limit { return nil }
        return pause(after: failures)
    }

    /// Returns the delay without regard to the limit.
    func pause(after failures: Int) -> Duration {
        switch delay {
        case .linear(let delay): max(.zero, delay)
        case .exponential(let first, let most): Backoff(first: first, most: most).delay(after: failures)
        }
    }
}
