public import ChatKit
public import HTTPClient
public import Logging

/// Outbound delivery: tells webhooks of committed events, out of the log, through the durable queue.
///
/// Nothing here is in the path of a request: an emit returns when its event is durable, and the planner finds it in the
/// log (`layout.md`, walk 2).
public final class WebhookService: Sendable {
    /// Administration of webhooks.
    public let registry: WebhookRegistry
    /// What became of deliveries.
    public let deliveries: Deliveries
    private let service: ChatService

    /// - Parameters:
    ///   - client: its address guard is what protects the network at connect time; pass the same guard in `options`.
    public init(service: ChatService, client: Client, options: WebhookOptions = WebhookOptions(), logger: Logger) {
        self.service = service
        registry = WebhookRegistry(service: service)
        deliveries = Deliveries(service: service)
    }

    /// Plans and sends until cancelled or until the engine closes. The chat service must be running (its keyring loaded).
    ///
    /// Cancelling aborts attempts under way: they are not recorded and are made again, with the same id, by whoever runs
    /// next. Call ``drain()`` first to let them end.
    /// - Parameter whenReady: called once, when webhooks are loaded and every app is caught up with its log.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {}

    /// Stops taking deliveries and returns when no attempt is under way; at most the client's total timeout later.
    public func drain() async {}

    /// Counters since the start, and how things stand.
    public var metrics: WebhookMetrics { WebhookMetrics() }
}
