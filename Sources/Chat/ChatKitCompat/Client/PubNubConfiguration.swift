import ChatRemote

/// The address, the credential and the user of a ``PubNub`` client.
public struct PubNubConfiguration: Sendable {
    /// The address of the gateway, such as `https://chat.example.com`.
    public var url: String
    /// An API key of the app or a token of the user.
    public var key: String
    /// The id of the user.
    public var userId: String
    /// The rule by which subscriptions reconnect; nil for no reconnection.
    public var automaticRetry: AutomaticRetry?
    /// The number of seconds after a client's last heartbeat at which its user stops being present, from 20 to 86,400.
    public var durationUntilTimeout: UInt
    /// The number of seconds between two heartbeats; 0 selects half of ``durationUntilTimeout``. A heartbeat tells the
    /// gateway that the user is present.
    public var heartbeatInterval: UInt
    /// True when the end of a subscription does not end the user's presence. The presence then ends after
    /// ``durationUntilTimeout``.
    public var supressLeaveEvents: Bool
    /// The filter of all subscriptions; see ``PubNub/subscribeFilterExpression``.
    public var filterExpression: String?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - url: the address of the gateway, such as `https://chat.example.com`.
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
    /// The delays between two attempts to connect, in seconds.
    public enum ReconnectionPolicy: Hashable, Sendable {
        case exponential(minDelay: UInt, maxDelay: UInt)
        case linear(delay: Double)

        /// Growing delays, from 2 to 150 seconds.
        public static let defaultExponential = ReconnectionPolicy.exponential(minDelay: 2, maxDelay: 150)
        /// Equal delays of 3 seconds.
        public static let defaultLinear = ReconnectionPolicy.linear(delay: 3)
    }

    /// The maximum number of consecutive attempts to connect.
    public let retryLimit: UInt
    /// The delays between two attempts to connect.
    public let policy: ReconnectionPolicy

    /// Creates a rule.
    public init(retryLimit: UInt = 6, policy: ReconnectionPolicy = .defaultExponential) {
        self.retryLimit = retryLimit
        self.policy = policy
    }

    /// The rule with at most six attempts and growing delays.
    public static let `default` = AutomaticRetry()
    /// The rule without any attempt to reconnect.
    public static let none = AutomaticRetry(retryLimit: 0)

    var rule: RetryPolicy {
        switch policy {
        case .exponential(let first, let most):
            RetryPolicy(.exponential(first: .seconds(first), most: .seconds(most)), limit: Int(retryLimit))
        case .linear(let delay): RetryPolicy(.linear(.seconds(delay)), limit: Int(retryLimit))
        }
    }
}
