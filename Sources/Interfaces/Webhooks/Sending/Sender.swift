import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking
import Logging

/// Makes the attempts that are due: signs and posts those leased together.
final class Sender: Sendable {
    /// Leases taken at a time.
    private static let leasesPerTake = 64
    /// A lease lasts 60 s; attempts that wait long for a connection keep theirs.
    private static let renewalInterval: Duration = .seconds(20)
    /// Answers that come within this are dealt with together: the threads they cross cost as much as the posts.
    private static let linger: Duration = .milliseconds(1)

    private let service: ChatService
    private let registry: WebhookRegistry
    private let client: Client
    private let recent: RecentEvents
    private let meters: Meters
    private let logger: Logger
    private let recorder: Recorder
    private let answers = Answers()
    private let leases = LeaseTable()
    let slots = Slots()

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
        recorder = Recorder(service: service, registry: registry, meters: meters, logger: logger)
    }

    private var queue: any DeliveryQueue { service.engine.deliveries }

    func run() async {
        let outbound = client.group(linger: Self.linger)
        async let recording: Void = recorder.run(answers) { self.end($0) }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepLeases() }
                while !Task.isCancelled, !slots.isDraining {
                    let leases = await take()
                    // Those that get no slot any more stay leased and are given up with the engine.
                    guard !leases.isEmpty, slots.take(leases.count) else { continue }
                    self.leases.insert(leases)
                    let rest = attemptAtOnce(leases, outbound)
                    // Nobody waits for what must be looked up first.
                    if !rest.isEmpty { group.addTask { await self.attempt(rest, outbound) } }
                }
                // Draining, or cancelled. Attempts under way end first; then the group's other tasks.
                await slots.drain()
                group.cancelAll()
            }
        } onCancel: {
            outbound.cancel()
        }
        answers.finish()
        await recording
    }

    private func take() async -> [Lease] {
        let started = ContinuousClock.now
        do throws(ChatError) {
            // As many as the client has connections: more would hold a lease and wait there, where nobody shares fairly.
            let leases = try await queue.take(
                Self.leasesPerTake, capacity: client.options.maxConnections, wait: registry.options.takeWait)
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

    /// Nothing more is done with these leases.
    private func end(_ ended: [Lease]) {
        leases.remove(ended)
        slots.giveBack(ended.count)
    }

    // MARK: Attempts

    /// Sends those whose webhook and body are in memory, and gives back the others.
    private func attemptAtOnce(_ leases: [Lease], _ outbound: OutboundGroup) -> [Lease] {
        var batch = PostBatch(at: service.clock.now, userAgent: registry.options.userAgent)
        var rest: [Lease] = []
        for lease in leases {
            let endpoint = lease.delivery.endpoint
            let webhook = registry.snapshot.withLock { $0.isUnreadable(endpoint) ? nil : $0[endpoint] }
            if let webhook, webhook.status == .enabled, let body = lease.body ?? recent.body(at: lease.delivery.event) {
                batch.add(lease, to: webhook, body)
            } else {
                rest.append(lease)
            }
        }
        send(batch, outbound)
        return rest
    }

    private func attempt(_ leases: [Lease], _ outbound: OutboundGroup) async {
        for lease in leases {
            var batch = PostBatch(at: service.clock.now, userAgent: registry.options.userAgent)
            do throws(ChatError) {
                if let (webhook, body) = try await content(of: lease) {
                    batch.add(lease, to: webhook, body)
                } else {
                    end([lease])
                }
            } catch {
                // The lease runs out and the attempt is made again.
                logger.warning(
                    "attempt not made", metadata: ["delivery": "\(lease.delivery.id)", "error": "\(error.message)"])
                end([lease])
            }
            send(batch, outbound)
        }
    }

    private func send(_ batch: PostBatch, _ outbound: OutboundGroup) {
        for answered in batch.unsent { answers.append(answered) }
        outbound.send(batch.requests) { [sent = batch.sent, start = batch.start] index, result in
            let (lease, body) = sent[index]
            // Stopped in the middle: whether it arrived is unknown. Nothing is recorded, and it is sent again with its id.
            if result.status == nil, result.failure?.reason == .cancelled { return self.end([lease]) }
            self.answers.append(Answered(lease: lease, body: body, start: start, result: result))
        }
    }

    /// What to send and where; nil when nothing is to be sent, and then the queue knows.
    private func content(of lease: Lease) async throws(ChatError) -> (Webhook, [UInt8])? {
        guard let webhook = try await webhook(of: lease) else { return nil }
        if let body = try await body(of: lease) { return (webhook, body) }
        try await bury(lease, DeliveryState.eventGone)
        return nil
    }

    /// The webhook, if it may be sent to. Nil: its lane has been brought in line.
    private func webhook(of lease: Lease) async throws(ChatError) -> Webhook? {
        let endpoint = lease.delivery.endpoint
        var (webhook, isUnreadable) = registry.snapshot.withLock { ($0[endpoint], $0.isUnreadable(endpoint)) }
        if webhook == nil, !isUnreadable {
            do throws(ChatError) {
                // Made a moment ago on another node, or gone.
                webhook = try await registry.current(endpoint)
            } catch {
                switch error.code {
                case .notFound:
                    try await queue.set(.closed, of: endpoint, concurrency: 1)
                    try await bury(lease, DeliveryState.webhookDeleted)
                case .conflict: try await registry.hold(endpoint)
                default: throw error
                }
                return nil
            }
        }
        guard webhook?.status == .enabled, !isUnreadable else {
            // Disabled or unreadable since the lease was taken. It runs out, and the delivery is held.
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

    /// Gives a delivery up that cannot be attempted.
    private func bury(_ lease: Lease, _ reason: String) async throws(ChatError) {
        meters.addDead()
        let attempt = DeliveryAttempt(
            at: service.clock.now, status: nil, error: "cancelled", durationMilliseconds: 0, isManual: lease.isManual)
        _ = try await queue.finish(lease, DeliveryOutcome(.dead(reason: reason), attempt: attempt))
        logger.warning("delivery given up", metadata: ["delivery": "\(lease.delivery.id)", "reason": "\(reason)"])
    }
}
