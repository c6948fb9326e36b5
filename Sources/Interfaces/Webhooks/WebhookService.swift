public import ChatCore
import ChatModel
public import HTTPClient
import Locking
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
    /// Replays, redrives and purges of many.
    public let jobs: Jobs
    private let runner: JobRunner
    /// Consumers that ask instead of being told.
    public let subscriptions: Subscriptions
    /// Asking receivers for their consent.
    public let verification: ReceiverVerification
    private let planner: Planner
    private let sender: Sender
    private let counters = DeliveryCounters()

    /// - Parameters:
    ///   - client: its address guard is what protects the network at connect time; pass the same guard in `options`.
    public init(service: ChatService, client: Client, options: WebhookOptions = WebhookOptions(), logger: Logger) {
        let recent = RecentEvents()
        registry = WebhookRegistry(
            service: service, options: options, health: WebhookHealth(directory: service.engine.directory),
            logger: logger)
        let tokens = PostTokens(client: client, clock: service.clock)
        deliveries = Deliveries(registry: registry, tokens: tokens)
        verification = ReceiverVerification(registry: registry, tokens: tokens)
        runner = JobRunner(registry: registry, logger: logger)
        jobs = Jobs(registry: registry, runner: runner)
        subscriptions = Subscriptions(registry: registry, logger: logger)
        planner = Planner(service: service, registry: registry, recent: recent, counters: counters, logger: logger)
        sender = Sender(
            service: service, registry: registry, client: client, tokens: tokens, recent: recent, counters: counters,
            logger: logger)
    }

    /// Plans and sends until cancelled or until the engine closes. The chat service must be running (its keyring loaded).
    ///
    /// Cancelling aborts attempts under way: they are not recorded and are made again, with the same id, by whoever runs
    /// next. Call ``drain()`` first to let them end.
    /// - Parameter whenReady: called once, when webhooks are loaded and every app is caught up with its log.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        let revision = try await registry.load()
        let subscribed = try await subscriptions.load()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.registry.follow(from: revision) }
            group.addTask { await self.registry.settleUnsettled() }
            group.addTask { await self.subscriptions.follow(from: subscribed) }
            group.addTask { await self.sender.run() }
            group.addTask { await self.runner.run() }
            try await planner.run(whenReady: whenReady)
            group.cancelAll()
        }
    }

    /// Begins no more attempts and returns when none is under way: at most the client's deadline for one later, or when
    /// cancelled. For a stop that leaves nothing to be sent twice.
    public func drain() async {
        subscriptions.stop()
        await sender.inFlightAttempts.drain()
    }

    /// Counters since the start, and how things stand.
    public var metrics: WebhookMetrics {
        var metrics = WebhookMetrics()
        counters.fill(&metrics)
        metrics.inFlight = sender.inFlightAttempts.taken
        let (webhooks, unreadable) = registry.snapshot.withLock { ($0.all, $0.unreadableCount) }
        metrics.webhooks = webhooks.count
        metrics.disabledWebhooks = webhooks.count { $0.status != .enabled }
        metrics.unreadableWebhooks = unreadable
        metrics.openCircuits = registry.circuits.openCount
        return metrics
    }
}
