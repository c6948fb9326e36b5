public import ChatCore
import ChatModel
public import HTTPClient
import Locking
public import Logging

/// Outbound delivery: posts committed events from the log to webhooks through the durable queue.
///
/// A request that emits an event does not wait for deliveries. The request returns when the event is durable, and the
/// planner then reads the event from the log.
public final class WebhookService: Sendable {
    /// Administration of webhooks.
    public let registry: WebhookRegistry
    /// The deliveries and their outcomes.
    public let deliveries: Deliveries
    /// Replays, redrives and purges of many deliveries.
    public let jobs: Jobs
    private let runner: JobRunner
    /// Subscriptions, from which consumers pull deliveries.
    public let subscriptions: Subscriptions
    /// Requests for the consent of receivers.
    public let verification: ReceiverVerification
    private let planner: Planner
    private let sender: Sender
    private let counters = DeliveryCounters()

    /// Creates the service. The service plans and sends nothing until ``run(whenReady:)`` is called.
    ///
    /// - Parameters:
    ///   - client: the HTTP client that sends the posts. The client's address guard checks the address of every
    ///     connection. Pass the same guard in `options`.
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

    /// Plans and sends deliveries until the task is cancelled or the engine closes. The chat service must be running,
    /// with its keyring loaded.
    ///
    /// Cancelling the task aborts the attempts in progress. Aborted attempts are not recorded, and the next run repeats
    /// them with the same ids. To let the attempts end instead, call ``drain()`` before cancelling.
    ///
    /// - Parameter whenReady: called once, when the webhooks are loaded and the events of every app's log are planned.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        let revision = try await registry.load()
        let subscribed = try await subscriptions.load()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.registry.follow(from: revision) }
            group.addTask { await self.registry.updatePendingLanes() }
            group.addTask { await self.subscriptions.follow(from: subscribed) }
            group.addTask { await self.sender.run() }
            group.addTask { await self.runner.run() }
            await planner.run(whenReady: whenReady)
            group.cancelAll()
        }
    }

    /// Begins no more attempts, and waits until no attempt is in progress or the task is cancelled. The wait lasts at
    /// most as long as one request of the HTTP client. A gateway that stops after the wait sends no delivery twice.
    public func drain() async {
        subscriptions.stop()
        await sender.inFlight.drain()
    }

    /// The counters since the start, and the current values.
    public var metrics: WebhookMetrics {
        var metrics = WebhookMetrics()
        counters.fill(&metrics)
        metrics.inFlight = sender.inFlight.count
        let (webhooks, unreadable) = registry.snapshot.withLock { ($0.all, $0.unreadableCount) }
        metrics.webhooks = webhooks.count
        metrics.disabledWebhooks = webhooks.count { $0.status != .enabled }
        metrics.unreadableWebhooks = unreadable
        metrics.openCircuits = registry.snapshot.withLock { $0.runtimes }.count(where: \.isCircuitOpen)
        return metrics
    }
}

/// The counters of planning and sending.
final class DeliveryCounters: Sendable {
    private struct State {
        var attempts: [String: UInt64] = [:]
        var planned: UInt64 = 0
        var dead: UInt64 = 0
        /// For each app, the position of the newest reported commit.
        var newest: [AppID: Timetoken] = [:]
        /// For each app, the position in the event log up to which deliveries are planned.
        var reached: [AppID: Timetoken] = [:]
    }

    private let state = Lock(State())

    func addPlanned(_ count: Int) { state.withLock { $0.planned += UInt64(count) } }

    func addAttempts(_ kinds: some Sequence<String>) {
        state.withLock { state in
            for kind in kinds { state.attempts[kind, default: 0] += 1 }
        }
    }

    func addDead(_ count: Int = 1) { state.withLock { $0.dead += UInt64(count) } }

    func recordCommit(_ position: Timetoken, of app: AppID) {
        state.withLock { $0.newest[app] = position }
    }

    func recordPlanned(_ position: Timetoken, of app: AppID) {
        state.withLock { $0.reached[app] = position }
    }

    func fill(_ metrics: inout WebhookMetrics) {
        let state = state.withLock { $0 }
        metrics.attempts = state.attempts
        metrics.planned = state.planned
        metrics.dead = state.dead
        metrics.plannerLagTicks =
            state.newest.map { app, newest in
                let reached = state.reached[app] ?? .zero
                return newest > reached ? newest.rawValue - max(reached.rawValue, 0) : 0
            }.max() ?? 0
    }
}

/// The state of outbound delivery.
public struct WebhookMetrics: Sendable {
    /// Attempts since the start by result: `delivered`, or an error class.
    public var attempts: [String: UInt64] = [:]
    /// The number of deliveries in attempts that are in progress.
    public var inFlight = 0
    /// Deliveries added to the queue since the start.
    public var planned: UInt64 = 0
    /// Deliveries that have become dead since the start, because their last attempt failed or too many deliveries were
    /// waiting.
    public var dead: UInt64 = 0
    /// The largest lag of the planner over all apps, in ticks of 100 ns: the time between the last planned position and
    /// the newest reported commit.
    public var plannerLagTicks: UInt64 = 0
    /// Registered webhooks.
    public var webhooks = 0
    /// Webhooks that are disabled.
    public var disabledWebhooks = 0
    /// Webhooks whose circuit is open or half open because of consecutive failures.
    public var openCircuits = 0
    /// Webhooks whose stored record cannot be read. Their deliveries wait.
    public var unreadableWebhooks = 0

    /// Creates metrics with zero values.
    public init() {}
}
