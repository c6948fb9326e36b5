import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking
import Logging

/// Makes the attempts that are due: prints, signs, posts, and records what came of it.
final class Sender: Sendable {
    /// Leases taken at a time.
    private static let leasesPerTake = 64
    /// A lease lasts 60 s; attempts that wait long for a connection keep theirs.
    private static let renewalInterval: Duration = .seconds(20)

    private let service: ChatService
    private let registry: WebhookRegistry
    private let client: Client
    private let recent: RecentEvents
    private let meters: Meters
    private let logger: Logger
    private let table: RetryTable
    private let leases = LeaseTable()
    let slots: Slots

    init(
        service: ChatService, registry: WebhookRegistry, client: Client, recent: RecentEvents, meters: Meters,
        logger: Logger
    ) {
        self.service = service
        self.registry = registry
        self.client = client
        self.recent = recent
        self.meters = meters
        self.logger = logger
        table = RetryTable.standard.limited(toAttempts: service.limits.deliveryAttempts)
        slots = Slots(limit: registry.options.attemptsInFlight)
    }

    private var queue: any DeliveryQueue { service.engine.deliveries }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.keepLeases() }
            while let free = await slots.free() {
                for lease in await take(min(free, Self.leasesPerTake)) {
                    // One that gets no slot any more stays leased and is given up with the engine.
                    guard slots.take() else { break }
                    leases.insert(lease)
                    group.addTask {
                        await self.attempt(lease)
                        self.leases.remove(lease)
                        self.slots.giveBack()
                    }
                }
            }
            // Draining, or cancelled. Attempts under way end first; then the group's other tasks.
            await slots.drain()
            group.cancelAll()
        }
    }

    private func take(_ limit: Int) async -> [Lease] {
        let started = ContinuousClock.now
        do throws(ChatError) {
            let leases = try await queue.take(limit, wait: registry.options.takeWait)
            if !leases.isEmpty { return leases }
        } catch {
            logger.warning("no deliveries to be had, trying again", metadata: ["error": "\(error.message)"])
        }
        // Empty long before the time is over: the queue is closed or out of order. Do not spin until somebody stops us;
        // a cancelled pause shows at the caller's loop.
        if ContinuousClock.now - started < registry.options.takeWait / 2 {
            try? await Task.sleep(for: .milliseconds(200))
        }
        return []
    }

    private func keepLeases() async {
        while !Task.isCancelled {
            // Cancellation shows at the loop's head.
            try? await Task.sleep(for: Self.renewalInterval)
            let long = leases.heldAtLeast(Self.renewalInterval)
            guard !long.isEmpty else { continue }
            do {
                try await queue.renew(long)
            } catch {
                // The leases run out, and the attempts are made again: at least once, as promised to receivers.
                logger.warning("leases not renewed", metadata: ["error": "\(error.message)"])
            }
        }
    }

    // MARK: One attempt

    private func attempt(_ lease: Lease) async {
        do throws(ChatError) {
            guard let webhook = try await webhook(of: lease) else { return }
            guard let body = try await body(of: lease) else {
                return try await bury(lease, DeliveryState.eventGone)
            }
            let delivery = lease.delivery
            let post = Post(
                webhook: webhook, event: delivery.event, type: delivery.type, channel: delivery.channel, body: body,
                attempt: delivery.attempts + 1)
            try await send(post, lease)
        } catch {
            // The lease runs out and the attempt is made again.
            logger.warning(
                "attempt not recorded", metadata: ["delivery": "\(lease.delivery.id)", "error": "\(error.message)"])
        }
    }

    /// The webhook, if it may be sent to. Nil: its lane has been brought in line.
    private func webhook(of lease: Lease) async throws(ChatError) -> Webhook? {
        let endpoint = lease.delivery.endpoint
        var webhook = registry.snapshot.withLock { $0[endpoint] }
        if webhook == nil {
            do throws(ChatError) {
                // Made a moment ago on another node, or gone.
                webhook = try await registry.current(endpoint)
            } catch {
                guard error.code == .notFound else { throw error }
                try await queue.set(.closed, of: endpoint, concurrency: 1)
                try await bury(lease, DeliveryState.webhookDeleted)
                return nil
            }
        }
        guard webhook?.status == .enabled else {
            // Disabled since the lease was taken. It runs out, and the delivery is held.
            try await registry.settleLane(of: endpoint)
            return nil
        }
        return webhook
    }

    private func body(of lease: Lease) async throws(ChatError) -> [UInt8]? {
        if let body = lease.body ?? recent.body(at: lease.delivery.event) { return body }
        let event = try await service.engine.log.event(at: lease.delivery.event, in: lease.delivery.endpoint.space)
        return event?.envelope.bytes
    }

    private func send(_ post: Post, _ lease: Lease) async throws(ChatError) {
        let start = service.clock.now
        let result = await post.send(with: client, at: start, userAgent: registry.options.userAgent)
        // Stopped in the middle: whether it arrived is unknown. Nothing is recorded, and it is sent again with its id.
        if result.status == nil, result.failure?.reason == .cancelled { return }
        let now = service.clock.now
        var state = DeliveryState(attempts: lease.delivery.attempts, table: table)
        let decision = state.record(DeliveryState.Happening(result, now: now), draw: registry.options.draw())
        meters.addAttempt(decision.errorClass ?? "delivered")
        log(decision, lease, result)
        let attempt = DeliveryAttempt(result, at: start, error: decision.errorClass, isManual: lease.isManual)
        try await finish(lease, decision.next, attempt, post.body, now)
        await follow(decision, of: lease, result, now)
        registry.options.observe?(lease.delivery, decision)
    }

    private func finish(
        _ lease: Lease, _ next: DeliveryState.Next, _ attempt: DeliveryAttempt, _ body: [UInt8], _ now: Timetoken
    ) async throws(ChatError) {
        let outcome: DeliveryOutcome
        switch next {
        case .delivered: outcome = DeliveryOutcome(.delivered, attempt: attempt)
        case .retry(let delay):
            // The bytes are kept from the first failure on: a retry repeats them even if the event is deleted meanwhile.
            outcome = DeliveryOutcome(
                .retry(at: now.adding(delay)), attempt: attempt, body: lease.body == nil ? body : nil)
        case .dead(let reason):
            outcome = DeliveryOutcome(.dead(reason: reason), attempt: attempt, body: lease.body == nil ? body : nil)
        }
        // False when the lease was lost: somebody else has it, and what they record counts.
        let isRecorded = try await queue.finish(lease, outcome)
        guard isRecorded else { return }
        if case .dead = next { meters.addDead() }
    }

    /// Gives a delivery up that cannot be attempted.
    private func bury(_ lease: Lease, _ reason: String) async throws(ChatError) {
        meters.addDead()
        let attempt = DeliveryAttempt(
            at: service.clock.now, status: nil, error: "cancelled", durationMilliseconds: 0, isManual: lease.isManual)
        _ = try await queue.finish(lease, DeliveryOutcome(.dead(reason: reason), attempt: attempt))
        logger.warning("delivery given up", metadata: ["delivery": "\(lease.delivery.id)", "reason": "\(reason)"])
    }

    // MARK: What follows for the webhook

    private func follow(
        _ decision: DeliveryState.Decision, of lease: Lease, _ result: OutboundResult, _ now: Timetoken
    ) async {
        let endpoint = lease.delivery.endpoint
        let effects: [EndpointHealth.Effect]
        if decision.errorClass == nil {
            effects = registry.health.recordSuccess(of: endpoint)
        } else if decision.disablesWebhook {
            effects = [.disable(reason: "the receiver answered 410 (gone)")]
        } else {
            effects = registry.health.recordFailure(of: endpoint, at: now, isSlow: decision.isSlow)
        }
        for effect in effects {
            do throws(ChatError) {
                try await perform(effect, endpoint, decision, result)
            } catch {
                // Told again by the next attempt where it matters: disabling and reporting repeat themselves.
                guard error.code != .notFound else { return }
                logger.warning(
                    "webhook's state not written", metadata: ["webhook": "\(endpoint)", "error": "\(error.message)"])
            }
        }
    }

    private func perform(
        _ effect: EndpointHealth.Effect, _ endpoint: EndpointID, _ decision: DeliveryState.Decision,
        _ result: OutboundResult
    ) async throws(ChatError) {
        switch effect {
        case .changePace:
            try await registry.settleLane(of: endpoint)
        case .disable(let reason):
            _ = try await registry.disable(endpoint, reason: reason)
            logger.warning("webhook disabled", metadata: ["webhook": "\(endpoint)", "reason": "\(reason)"])
        case .reportFailing(let since):
            let event = WebhookRegistry.notice("webhook.failing", of: endpoint) { writer in
                writer.member("failing_since", since.timestamp)
                writer.member("error", decision.errorClass ?? "")
                if let status = result.status { writer.member("status", status) }
            }
            if try await registry.health.write(failingSince: since, of: endpoint, event: event) {
                logger.warning("webhook failing", metadata: ["webhook": "\(endpoint)", "since": "\(since.timestamp)"])
            }
        case .reportRecovered:
            let event = WebhookRegistry.notice("webhook.recovered", of: endpoint) { _ in }
            _ = try await registry.health.write(failingSince: nil, of: endpoint, event: event)
        }
    }

    private func log(_ decision: DeliveryState.Decision, _ lease: Lease, _ result: OutboundResult) {
        let level: Logger.Level = if case .dead = decision.next { .warning } else { .debug }
        logger.log(
            level: level, "attempt",
            metadata: [
                "delivery": "\(lease.delivery.id)", "attempt": "\(lease.delivery.attempts + 1)",
                "status": "\(result.status.map(String.init) ?? "-")", "error": "\(decision.errorClass ?? "-")",
                "detail": "\(result.failure?.detail ?? "-")",
            ])
    }
}
