import ChatCore
import ChatModel
import HTTPClient
import JSON
import Locking
import Logging

/// Makes the attempts that are due: composes, signs and sends the posts of the leased deliveries.
final class Sender: Sendable {
    /// The maximum number of attempts that are leased from the queue at a time.
    private static let leasesPerRequest = 64
    /// The interval at which leases are renewed. A lease lasts 60 seconds, and an attempt may wait longer for a
    /// connection.
    private static let renewalInterval: Duration = .seconds(20)
    /// Responses that arrive within this time are processed together, because passing a response between threads costs
    /// as much as a post.
    private static let linger: Duration = .milliseconds(1)

    private let service: ChatService
    private let registry: WebhookRegistry
    private let client: Client
    private let tokens: PostTokens
    private let recent: RecentEvents
    private let counters: DeliveryCounters
    private let logger: Logger
    private let recorder: AttemptRecorder
    let inFlight: AttemptsInFlight

    init(
        service: ChatService, registry: WebhookRegistry, client: Client, tokens: PostTokens, recent: RecentEvents,
        counters: DeliveryCounters, logger: Logger
    ) {
        self.service = service
        self.registry = registry
        self.client = client
        self.tokens = tokens
        self.recent = recent
        self.counters = counters
        self.logger = logger
        inFlight = AttemptsInFlight(bytes: registry.options.batchBytes)
        recorder = AttemptRecorder(service: service, registry: registry, counters: counters, logger: logger)
    }

    private var queue: any DeliveryQueue { service.engine.deliveries }

    func run() async {
        let outbound = client.group(linger: Self.linger) { self.receive($0) }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepLeases() }
                var isQueueReadable = true
                while !Task.isCancelled, !inFlight.isDraining {
                    let leases = await leaseDue(&isQueueReadable)
                    // Leases that the queue returns while the gateway stops are not used. They end when the engine
                    // closes.
                    guard !leases.isEmpty, inFlight.begin(leases) else { continue }
                    // Cheap attempts that need no lookup were sent in this call. The other attempts run in tasks of
                    // their own.
                    for (attempt, priority) in attemptAtOnce(leases, outbound) {
                        group.addTask(priority: priority) { await self.attempt(attempt, outbound) }
                    }
                }
                // The sender drains or was cancelled. It waits for the attempts in progress and then cancels its other
                // tasks.
                await inFlight.drain()
                group.cancelAll()
            }
        } onCancel: {
            outbound.cancel()
        }
        // The sender waits until the results are recorded, because an attempt without a recorded result would be sent
        // again.
        await inFlight.allEnded()
    }

    private func leaseDue(_ isQueueReadable: inout Bool) async -> [Lease] {
        let started = ContinuousClock.now
        do throws(ChatError) {
            // The queue leases at most as many attempts as the client has connections. Further attempts would only wait
            // in the client, which does not divide its connections fairly.
            let leases = try await queue.lease(
                Self.leasesPerRequest, capacity: client.options.maxConnections, wait: registry.options.leaseWait)
            if !isQueueReadable { logger.notice("the queue of deliveries can be read again") }
            isQueueReadable = true
            if !leases.isEmpty { return leases }
        } catch {
            // While the store is away, only its first failure is logged.
            if isQueueReadable {
                logger.warning(
                    "cannot read the queue of deliveries; trying again", metadata: ["error": "\(error.message)"])
            }
            isQueueReadable = false
        }
        // An early empty result means that the queue is closed or has failed. The pause prevents a busy loop. The
        // caller's loop checks for cancellation.
        if ContinuousClock.now - started < registry.options.leaseWait / 2 {
            try? await Task.sleep(for: .milliseconds(200))
        }
        return []
    }

    private func keepLeases() async {
        while !Task.isCancelled {
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: Self.renewalInterval)
            let long = inFlight.heldAtLeast(Self.renewalInterval)
            guard !long.isEmpty else { continue }
            do {
                try await queue.renew(long)
            } catch {
                // The leases end, and the attempts are repeated. Each delivery is sent at least once.
                logger.warning(
                    "cannot renew the leases of deliveries in progress; these deliveries may be sent twice",
                    metadata: ["error": "\(error.message)"])
            }
        }
    }

    // MARK: Attempts

    /// Sends the attempts that are cheap to compose and whose webhook and envelope are in memory. Returns the other
    /// attempts, each with the priority of its task.
    private func attemptAtOnce(
        _ leases: [Lease], _ outbound: OutboundGroup
    ) -> [(attempt: ArraySlice<Lease>, priority: TaskPriority?)] {
        let now = service.clock.now
        let attempts = leases.attempts
        var run = PostRun(at: now, count: attempts.count)
        var rest: [(attempt: ArraySlice<Lease>, priority: TaskPriority?)] = []
        let known = registry.snapshot.withLock { snapshot in
            attempts.map { snapshot.enabled($0[$0.startIndex].delivery.subscriber) }
        }
        for (attempt, known) in zip(attempts, known) {
            let isCostly = known?.webhook.settings.template != nil
            if attempt.count == 1, !isCostly, let known, !known.webhook.settings.needsToken,
                known.webhook.settings.included.isEmpty, let prepared = prepareFromMemory(attempt[attempt.startIndex])
            {
                run.add(prepared, known.plan(at: now, registry.plans))
            } else {
                // Rendering a template may take long, so the task has a low priority.
                rest.append((attempt, isCostly ? .low : nil))
            }
        }
        send(run, outbound)
        return rest
    }

    /// Looks up and composes the deliveries of an attempt one by one until the post is full. The memory therefore
    /// contains at most one post.
    private func attempt(_ leases: ArraySlice<Lease>, _ outbound: OutboundGroup) async {
        guard let known = await webhook(of: leases) else { return inFlight.end(leases) }
        let webhook = known.webhook
        let start = service.clock.now
        var post = PostComposition(known.plan(at: start, registry.plans))
        let first = leases[leases.startIndex]
        guard inFlight.reserve(post.plan.isArray ? webhook.settings.batch?.bytes ?? 0 : 0, for: first) else {
            return await release(leases, after: registry.options.shortagePause)
        }
        for index in leases.indices {
            if let one = await prepare(leases[index], including: webhook.settings.included) {
                guard post.add(one) else {
                    await release(leases[index...])
                    break
                }
            } else {
                inFlight.end(CollectionOfOne(leases[index]))
                if webhook.settings.ordering != .none {
                    await release(leases[(index + 1)...])
                    break
                }
            }
            // Lets other tasks run between two deliveries.
            await Task.yield()
        }
        if !webhook.settings.included.isEmpty { await storeContents(of: &post) }
        inFlight.shrink(to: post.bytes, for: first)
        var run = PostRun(at: start)
        run.add(post)
        if webhook.settings.needsToken {
            await send(run, withTokenOf: webhook)
        } else {
            send(run, outbound)
        }
    }

    /// Stores contents before they are sent for the first time. The next attempt must send the same bytes, but included
    /// objects may have changed by then, and the result of this attempt may never be known.
    private func storeContents(of post: inout PostComposition) async {
        let new = post.composed.compactMap { one in one.bytesToStore.map { (lease: one.lease, body: $0) } }
        guard !new.isEmpty else { return }
        let leases = new.map(\.lease)
        var stored: [UInt64: [UInt8]] = [:]
        do throws(ChatError) {
            let found = try await queue.keep(new)
            for (lease, bytes) in zip(leases, found) { stored[lease.fence] = bytes }
        } catch {
            logger.warning(
                "cannot store the contents of deliveries before sending them; trying again",
                metadata: ["error": "\(error.message)"])
            post.replaceContents(with: [:])
            return await release(leases[...], after: registry.options.shortagePause)
        }
        post.replaceContents(with: stored)
        // A content that was not stored belongs to a delivery that was deleted after its lookup.
        for lease in leases where stored[lease.fence] == nil {
            do throws(ChatError) {
                try await markDead(lease, .eventNotKept)
            } catch {
                // The lease ends, and the delivery is looked up again.
                logger.warning(
                    "cannot mark the delivery as dead; trying again",
                    metadata: ["delivery": "\(lease.delivery.id)", "error": "\(error.message)"])
            }
            inFlight.end(CollectionOfOne(lease))
        }
    }

    /// Returns leases to the queue, so that their deliveries are due again after `pause`.
    private func release(_ leases: ArraySlice<Lease>, after pause: Duration = .zero) async {
        do throws(ChatError) {
            _ = try await queue.release(Array(leases), after: pause)
        } catch {
            // The leases were not shortened, so they end at their usual time.
            logger.warning(
                "cannot return deliveries to the queue; they wait until their leases end",
                metadata: ["error": "\(error.message)"])
        }
        inFlight.end(leases)
    }

    private func send(_ run: PostRun, _ outbound: OutboundGroup) {
        startRecording(run.unsent)
        inFlight.add(run.posts)
        outbound.send(zip(run.posts, run.requests).map { ($0.attempt, $1) })
    }

    private func send(_ run: PostRun, withTokenOf webhook: Webhook) async {
        await recordNow(run.unsent)
        for (post, request) in zip(run.posts, run.requests) {
            if let completed = completed(post, await tokens.send(request, to: webhook)) { await recordNow([completed]) }
        }
    }

    /// Handles results. Called on the thread that drives all transfers, and on the thread of the sender for requests that
    /// cannot be sent.
    private func receive(_ results: [OutboundGroup.Result]) {
        startRecording(
            zip(inFlight.removePosts(of: results.map(\.number)), results).compactMap { post, result in
                post.flatMap { completed($0, result.result) }
            })
    }

    /// The completed attempt of a post. Nil when the attempt was cancelled, because it is then unknown whether the post
    /// arrived. Such an attempt is not recorded, and the delivery is sent again with the same id.
    private func completed(_ post: PostRun.Post, _ result: OutboundResult) -> CompletedAttempt? {
        if result.status == nil, result.failure?.reason == .cancelled {
            inFlight.end(post.deliveries.map(\.lease))
            return nil
        }
        // If the failure has a sentence of its own, it occurred before the request was sent.
        let headers = result.failure?.sentence == nil ? post.headers : []
        return CompletedAttempt(
            deliveries: post.deliveries, post.plan, start: post.start, requestHeaders: headers, result: result)
    }

    /// Records results in a task, because the caller must not wait. ``run()`` waits for such tasks.
    private func startRecording(_ completed: [CompletedAttempt]) {
        if !completed.isEmpty { Task { await recordNow(completed) } }
    }

    private func recordNow(_ completed: [CompletedAttempt]) async {
        await recorder.process(completed)
        inFlight.end(completed.flatMap { $0.deliveries.map(\.lease) })
    }

    /// The webhook of an attempt; nil when no post may be sent now. In the nil case, the deliveries wait for another
    /// attempt, or become dead if the webhook was deleted.
    private func webhook(of attempt: ArraySlice<Lease>) async -> CachedWebhook? {
        let subscriber = attempt[attempt.startIndex].delivery.subscriber
        do throws(ChatError) {
            let (enabled, isKnown) = registry.snapshot.withLock { snapshot in
                (snapshot.enabled(subscriber), snapshot.known(subscriber) != nil || snapshot.isUnreadable(subscriber))
            }
            if let enabled { return enabled }
            if !isKnown { return try await webhookFromDirectory(subscriber, attempt) }
            // The webhook was disabled or became unreadable after the deliveries were leased. The leases end
            // immediately, and the deliveries wait.
            try await registry.updateLane(of: subscriber)
            try await queue.release(Array(attempt), after: .zero)
        } catch {
            logger.warning(
                "cannot prepare a delivery; trying again",
                metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
        }
        return nil
    }

    /// The webhook of an attempt, read from its record and not from the snapshot in memory, because another process may
    /// have just created it. Nil when posts may not be sent to the webhook, or when the webhook was deleted. The
    /// deliveries of a deleted webhook become dead.
    private func webhookFromDirectory(
        _ subscriber: SubscriberID, _ attempt: ArraySlice<Lease>
    ) async throws(ChatError) -> CachedWebhook? {
        do throws(ChatError) {
            let webhook = try await registry.current(subscriber)
            return webhook.status == .enabled ? CachedWebhook(webhook) : nil
        } catch {
            switch error.code {
            case .notFound:
                try await queue.set(.closed, of: subscriber, concurrency: 1)
                for lease in attempt { try await markDead(lease, .webhookDeleted) }
            case .conflict: try await registry.hold(subscriber)
            default: throw error
            }
            return nil
        }
    }

    /// Prepares a leased delivery for its post: reads its envelope and its included objects. Nil when the delivery
    /// cannot be sent.
    private func prepare(_ lease: Lease, including objects: Set<IncludedObject>) async -> PreparedDelivery? {
        do throws(ChatError) {
            return try await preparedDelivery(of: lease)?.including(objects, from: service)
        } catch {
            // The lease ends, and the attempt is repeated.
            logger.warning(
                "cannot prepare a delivery; trying again",
                metadata: ["delivery": "\(lease.delivery.id)", "error": "\(error.message)"])
        }
        return nil
    }

    private func preparedDelivery(of lease: Lease) async throws(ChatError) -> PreparedDelivery? {
        if let prepared = prepareFromMemory(lease) { return prepared }
        let event = try await service.engine.log.event(at: lease.delivery.event, in: lease.delivery.subscriber.app)
        if let event {
            return PreparedDelivery(lease: lease, body: event.envelope.bytes, trace: event.draft.trace?.stored)
        }
        try await markDead(lease, .eventNotKept)
        return nil
    }

    /// The delivery of a lease, if its envelope is in memory; nil otherwise.
    private func prepareFromMemory(_ lease: Lease) -> PreparedDelivery? {
        let recent = recent.entry(at: lease.delivery.event, deletions: service.deletions)
        return (lease.body ?? recent?.body).map { PreparedDelivery(lease: lease, body: $0, trace: recent?.trace) }
    }

    /// Marks a delivery as dead that cannot be sent.
    private func markDead(_ lease: Lease, _ reason: DeadReason) async throws(ChatError) {
        counters.addDead()
        let attempt = DeliveryAttempt(
            at: service.clock.now, status: nil, error: "cancelled", durationMilliseconds: 0, isManual: lease.isManual)
        _ = try await queue.finish(lease, DeliveryOutcome(.dead(reason: reason), attempt: attempt))
        logger.warning(
            "delivery became dead and is not attempted again",
            metadata: ["delivery": "\(lease.delivery.id)", "reason": "\(reason.rawValue)"])
    }
}

extension [Lease] {
    /// The leases grouped by their attempts (``Lease/attempt``). Leases of one attempt are adjacent.
    fileprivate var attempts: [ArraySlice<Lease>] {
        var attempts: [ArraySlice<Lease>] = []
        var start = startIndex
        for index in indices where index + 1 == endIndex || self[index + 1].attempt != self[index].attempt {
            attempts.append(self[start...index])
            start = index + 1
        }
        return attempts
    }
}
