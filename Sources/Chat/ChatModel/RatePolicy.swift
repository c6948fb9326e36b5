/// How much somebody may ask for: so many of something in a window of time, all at once or spread over it.
public struct RatePolicy: Hashable, Sendable {
    public var quantity: Int
    /// Whole seconds.
    public var window: Duration

    public init(_ quantity: Int, in window: Duration) {
        self.quantity = quantity
        self.window = window
    }

    /// The deployment's default; nil for zero, which is no limit.
    public init?(default quantity: Int, in window: Duration) {
        guard quantity > 0 else { return nil }
        self.init(quantity, in: window)
    }
}

/// What each of a key and its app may do: requests, and events emitted.
public struct RatePolicies: Hashable, Sendable {
    public var requests: RatePolicy?
    public var events: RatePolicy?

    public init(requests: RatePolicy? = nil, events: RatePolicy? = nil) {
        self.requests = requests
        self.events = events
    }

    /// With the deployment's defaults where nothing is said.
    public func completed(by defaults: RatePolicies) -> RatePolicies {
        RatePolicies(requests: requests ?? defaults.requests, events: events ?? defaults.events)
    }

    public var isEmpty: Bool { requests == nil && events == nil }
}
