/// How outbound delivery stands.
public struct WebhookMetrics: Sendable {
    /// Attempts since the start by how they ended: `delivered`, or an error class of `conventions.md` 10.
    public var attempts: [String: UInt64] = [:]
    /// Attempts under way.
    public var inFlight = 0
    /// Deliveries put into the queue since the start.
    public var planned: UInt64 = 0
    /// Deliveries given up since the start: at the end of their attempts, or as too many were waiting already.
    public var dead: UInt64 = 0
    /// How far the planner is behind the newest commit it has heard of, in 100 ns ticks; the greatest of all apps.
    public var plannerLagTicks: UInt64 = 0
    /// Registered webhooks, and those of them that are disabled.
    public var webhooks = 0
    public var disabledWebhooks = 0
    /// Webhooks whose circuit is open or half open: attempts fail on end.
    public var openCircuits = 0
    /// Webhooks whose stored record cannot be read; their deliveries are held.
    public var unreadableWebhooks = 0

    public init() {}
}
