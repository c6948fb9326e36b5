import ChatRemote

/// The address, the credential and the user of a ``PubNub`` client.
public struct PubNubConfiguration: Sendable {
    /// The gateway's address, as in a browser.
    public var url: String
    /// An API key of the app or a token of the user.
    public var key: String
    /// The id of the user.
    public var userId: String
    /// The rule by which subscriptions reconnect; nil selects no reconnection.
    public var automaticRetry: AutomaticRetry?
    /// The number of seconds after which the user of a client that vanished is no longer present, 20 at least.
    public var durationUntilTimeout: UInt
    /// The number of seconds between two signs that the user is present; 0 selects half of ``durationUntilTimeout``.
    public var heartbeatInterval: UInt
    /// True when unsubscribing does not end the user's presence, which then ends by itself.
    public var supressLeaveEvents: Bool
    /// The filter of all subscriptions; see ``PubNub/subscribeFilterExpression``.
    public var filterExpression: String?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - url: the gateway's address, as in a browser: `https://chat.example.com`.
    ///   - key: an API key of the app or a token of the user; ``PubNub/set(token:)`` replaces it.
    public init(
        url: String, key: String, userId: String, automaticRetry: AutomaticRetry? = .default,
        durationUntilTimeout: UInt = 300, heartbeatInterval: UInt = 0, supressLeaveEvents: Bool = false,
        filterExpression: String? = nil
    ) {
        self.url = url
        self.key = key
        self.userId = userId
        self.automaticRetry = automaticRetry
        self.durationUntilTimeout = durationUntilTimeout
        self.heartbeatInterval = heartbeatInterval
        self.supressLeaveEvents = supressLeaveEvents
        self.filterExpression = filterExpression
    }

    /// The id of the user.
    @available(*, deprecated, renamed: "userId")
    public var uuid: String {
        get { userId }
        set { userId = newValue }
    }
}

/// The rule by which subscriptions reconnect.
public struct AutomaticRetry: Hashable, Sendable {
    /// The delays between two attempts, in seconds.
    public enum ReconnectionPolicy: Hashable, Sendable {
        case exponential(minDelay: UInt, maxDelay: UInt)
        case linear(delay: Double)

        /// From 2 to 150 seconds.
        public static let defaultExponential = ReconnectionPolicy.exponential(minDelay: 2, maxDelay: 150)
        /// 3 seconds.
        public static let defaultLinear = ReconnectionPolicy.linear(delay: 3)
    }

    /// The maximum number of attempts in a row.
    public let retryLimit: UInt
    /// The delays between the attempts.
    public let policy: ReconnectionPolicy

    /// Creates a rule.
    public init(retryLimit: UInt = 6, policy: ReconnectionPolicy = .defaultExponential) {
        self.retryLimit = retryLimit
        self.policy = policy
    }

    /// Six attempts, with growing delays.
    public static let `default` = AutomaticRetry()
    /// No attempt.
    public static let none = AutomaticRetry(retryLimit: 0)

    var rule: RetryPolicy {
        switch policy {
        case .exponential(let first, let most):
            RetryPolicy(.exponential(first: .seconds(first), most: .seconds(most)), limit: Int(retryLimit))
        case .linear(let delay): RetryPolicy(.linear(.seconds(delay)), limit: Int(retryLimit))
        }
    }
}
