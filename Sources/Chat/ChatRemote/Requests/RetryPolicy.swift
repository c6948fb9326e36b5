import GatewayClient

/// The delays and the limit of attempts when listeners of a chat reconnect.
///
/// ```swift
/// let chat = try await Chat(
///     url: "https://chat.example.com", key: "parley_…", user: "ana",
///     retry: RetryPolicy(.exponential(first: .milliseconds(500), most: .seconds(60)), limit: 10))
/// ```
/// A longer delay that the gateway requires takes precedence. Requests are retried separately (`RequestOptions`).
public struct RetryPolicy: Sendable {
    /// The delay between attempts.
    public enum Delay: Sendable {
        /// The same delay after each failure.
        case linear(Duration)
        /// The delay doubles after each failure, from `first` up to `most`. Up to half of each delay is random.
        case exponential(first: Duration, most: Duration)
    }

    /// The delay between attempts.
    public var delay: Delay
    /// The maximum number of consecutive attempts to reconnect, after which the listeners fail; nil for no limit.
    public var limit: Int?

    /// Creates a policy with a limit of attempts; nil for no limit.
    public init(_ delay: Delay, limit: Int? = nil) {
        self.delay = delay
        self.limit = limit
    }

    /// The default: exponential delays from 200 ms to 30 s, without a limit.
    public static let standard = RetryPolicy(.exponential(first: .milliseconds(200), most: .seconds(30)))
    /// No reconnection: a listener whose connection is lost fails immediately.
    public static let none = RetryPolicy(.linear(.zero), limit: 0)

    /// Returns the delay after a number of consecutive failures, or nil when there are no more attempts.
    func delay(after failures: Int) -> Duration? {
        if let limit, failures > limit { return nil }
        return pause(after: failures)
    }

    /// Returns the delay after a number of consecutive failures, regardless of the limit.
    func pause(after failures: Int) -> Duration {
        switch delay {
        case .linear(let delay): max(.zero, delay)
        case .exponential(let first, let most): Backoff(first: first, most: most).delay(after: failures)
        }
    }
}
