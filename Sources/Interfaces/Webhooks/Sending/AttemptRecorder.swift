import ChatCore
import ChatModel
import HTTPClient
import JSON
import Locking
import Logging

/// Records the results of attempts in the queue, and updates the webhooks to which the attempts were sent: their
/// circuit breakers, statistics, failures and status.
struct AttemptRecorder: Sendable {
    private let service: ChatService
    private let registry: WebhookRegistry
    private let counters: DeliveryCounters
    private let logger: Logger
    private let table: RetryTable

    init(service: ChatService, registry: WebhookRegistry, counters: DeliveryCounters, logger: Logger) {
        self.service = service
        self.registry = registry
        self.counters = counters
        self.logger = logger
        table = RetryTable.standard.limited(toAttempts: service.limits.deliveryAttempts)
    }

    /// A delivery of an attempt, with the decision about its next state. A class, because it has many fields and is
    /// passed between functions often.
    private final class DeliveryDecision: Sendable {
        let lease: Lease
        let decision: DeliveryState.Decision
        let outcome: DeliveryOutcome

        init(_ lease: Lease, _ decision: DeliveryState.Decision, _ outcome: DeliveryOutcome) {
            (self.lease, self.decision, self.outcome) = (lease, decision, outcome)
        }

        var isDead: Bool { if case .dead = decision.next { true } else { false } }
    }

    /// Records the results of attempts, in one commit with the results of other calls. Returns when the queue and the
    /// states of the webhooks are updated.
    func process(_ all: [CompletedAttempt]) async {
        let short = all.filter(\.result.isOurShortage)
        if !short.isEmpty { await rest(short) }
        let made = short.isEmpty ? all : all.filter { !$0.result.isOurShortage }
        if !made.isEmpty { await conclude(made) }
    }

    /// Shortens the leases of attempts that were not made because the gateway lacked resources. The attempts are
    /// therefore repeated soon. They do not count as failures of the receivers.
    private func rest(_ short: [CompletedAttempt]) async {
        let leases = short.flatMap { $0.deliveries.map(\.lease) }
        logger.warning(
            "not enough memory or file descriptors to send to webhooks; trying again",
            metadata: ["count": "\(leases.count)", "detail": "\(short[0].result.failure?.detail ?? "-")"])
        counters.addAttempts(leases.lazy.map { _ in OutboundFailure.Reason.overloaded.rawValue })
        do throws(ChatError) {
            _ = try await service.engine.deliveries.release(leases, after: registry.options.shortagePause)
        } catch {
            // The leases were not shortened, so they end at their usual time.
            logger.warning(
                "cannot schedule an early repeat of attempts; the attempts are repeated when their leases end",
                metadata: ["error": "\(error.message)"])
        }
    }

    private func conclude(_ made: [CompletedAttempt]) async {
        let now = service.clock.now
        let ended = made.map { decide($0, now) }
        // The circuit breakers are updated before the attempts end in the queue, because the queue then starts the next
        // attempts.
        for (attempt, ended) in zip(made, ended) {
            await runtime(for: attempt)?.recordReceiver(
                ended[0].decision, begun: attempt.start, at: now, in: registry.queue, draw: registry.options.draw)
        }
        do throws(ChatError) {
            try await storeOutcomes(made, ended)
        } catch {
            // The leases end without a result, so the attempts are repeated.
            logger.warning(
                "cannot record attempts; the attempts will be made again",
                metadata: ["count": "\(ended.joined().count)", "error": "\(error.message)"])
            return
        }
        for (attempt, ended) in zip(made, ended) {
            // The webhook may have been changed or deleted during the commit, so it is looked up again.
            if let runtime = runtime(for: attempt) { await applyConsequences(of: attempt, ended, runtime, now) }
            for one in ended { registry.options.observe?(one.lease.delivery, one.decision) }
        }
    }

    /// The runtime state of the webhook to which an attempt was sent. Nil when the webhook was deleted or now has
    /// another URL, because the result of the attempt then says nothing about the webhook's current receiver.
    private func runtime(for attempt: CompletedAttempt) -> WebhookRuntime? {
        registry.snapshot.withLock { snapshot in
            let url = snapshot.known(attempt.subscriber)?.webhook.settings.url
            return url == attempt.plan.webhook.settings.url ? snapshot.runtime(of: attempt.subscriber) : nil
        }
    }

    /// Decides the next state of each delivery of an attempt. The deliveries may be at different points of their
    /// schedules.
    private func decide(_ completed: CompletedAttempt, _ now: Timetoken) -> [DeliveryDecision] {
        let event = DeliveryState.AttemptEvent(completed.result, now: now)
        let table = completed.plan.retries ?? table
        var details: JSONText?
        return completed.deliveries.map { prepared in
            let lease = prepared.lease
            let decision = DeliveryState.decision(
                after: event, attempt: lease.delivery.attempts + 1, table: table, draw: registry.options.draw())
            if details == nil { details = DeliveryAttempt.details(completed, decision.errorClass) }
            let attempt = DeliveryAttempt(
                completed.result, at: completed.start, error: decision.errorClass, isManual: lease.isManual,
                details: details)
            let outcome =
                switch decision.next {
                case .delivered: DeliveryOutcome(.delivered, attempt: attempt)
                case .retry(let delay):
                    DeliveryOutcome(.retry(at: now.adding(delay)), attempt: attempt, body: prepared.bytesToStore)
                case .dead(let reason):
                    DeliveryOutcome(.dead(reason: reason), attempt: attempt, body: prepared.bytesToStore)
                }
            return DeliveryDecision(lease, decision, outcome)
        }
    }

    private func storeOutcomes(_ made: [CompletedAttempt], _ attempts: [[DeliveryDecision]]) async throws(ChatError) {
        for (attempt, ended) in zip(made, attempts) {
            if let tracer = service.tracer, let span = Span(attempt, ended[0].decision.errorClass) {
                tracer.record(span)
            }
            for one in ended { log(one, attempt.result) }
        }
        let ended = attempts.flatMap { $0 }
        counters.addAttempts(ended.lazy.map { $0.decision.errorClass ?? "delivered" })
        let recorded = try await service.engine.deliveries.finish(ended.map { ($0.lease, $0.outcome) })
        for (one, isRecorded) in zip(ended, recorded) {
            // The result is not recorded if the lease had ended. The delivery then has another lease, whose result
            // counts.
            if isRecorded, one.isDead { counters.addDead() }
        }
    }

    // MARK: Consequences for the webhook

    private func applyConsequences(
        of attempt: CompletedAttempt, _ ended: [DeliveryDecision], _ runtime: WebhookRuntime, _ now: Timetoken
    ) async {
        let decision = ended[0].decision
        runtime.recordAttempt(
            at: now, isDelivered: decision.errorClass == nil,
            milliseconds: Int(attempt.result.timings.total.timetokenTicks / 10_000))
        let effects = effects(of: decision, runtime, dead: ended.count { $0.isDead }, attempt.result.status, now)
        if !effects.isEmpty { await perform(effects, attempt, runtime, decision) }
    }

    private func effects(
        of decision: DeliveryState.Decision, _ runtime: WebhookRuntime, dead: Int, _ status: Int?, _ now: Timetoken
    ) -> [WebhookFailureState.Effect] {
        guard let error = decision.errorClass else { return runtime.recordSuccess() }
        if decision.disablesWebhook {
            return [.disable(reason: "the receiver responded that its address is permanently gone (410)")]
        }
        return runtime.recordFailure(
            AttemptError(at: now, error: error, status: status), dead: dead, deadTolerated: service.limits.deadOnEnd)
    }

    private func perform(
        _ effects: [WebhookFailureState.Effect], _ attempt: CompletedAttempt, _ runtime: WebhookRuntime,
        _ decision: DeliveryState.Decision
    ) async {
        // The failures of this node may be outdated, because nodes deliver to a webhook one after the other.
        if decision.errorClass != nil, !decision.disablesWebhook, await registry.hasSucceededElsewhere(runtime) {
            return
        }
        for effect in effects {
            do throws(ChatError) {
                try await perform(effect, attempt, runtime, decision)
            } catch {
                // The effect is not lost: the recording of the next attempt returns it again. A deleted webhook needs
                // no effects.
                guard error.code != .notFound else { return }
                logger.warning(
                    "cannot update or report the webhook's state; the next attempt tries again",
                    metadata: ["webhook": "\(attempt.subscriber)", "error": "\(error.message)"])
            }
        }
    }

    private func perform(
        _ effect: WebhookFailureState.Effect, _ attempt: CompletedAttempt, _ runtime: WebhookRuntime,
        _ decision: DeliveryState.Decision
    ) async throws(ChatError) {
        let (subscriber, result) = (attempt.subscriber, attempt.result)
        switch effect {
        case .disable(let reason):
            guard try await registry.disable(after: attempt, reason: reason) else { return }
            logger.warning(
                "webhook disabled; its deliveries are held",
                metadata: ["webhook": "\(subscriber)", "reason": "\(reason)"])
        case .notify:
            let written = try await runtime.writeNotices(to: registry.health) {
                notice($0, subscriber, decision, result)
            }
            for notice in written {
                guard case .failing(let since) = notice else { continue }
                logger.warning(
                    "webhook failing; its deliveries are retried",
                    metadata: ["webhook": "\(subscriber)", "since": "\(since.timestamp)"])
            }
        }
    }

    private func notice(
        _ notice: WebhookFailureState.OperatorNotice, _ subscriber: SubscriberID, _ decision: DeliveryState.Decision,
        _ result: OutboundResult
    ) -> EventDraft {
        switch notice {
        case .failing(let since):
            WebhookRegistry.notice("webhook.failing", of: subscriber) { writer in
                writer.member("failing_since", since.timestamp)
                writer.member("error", decision.errorClass ?? "")
                if let status = result.status { writer.member("status", status) }
            }
        case .recovered: WebhookRegistry.notice("webhook.recovered", of: subscriber) { _ in }
        }
    }

    private func log(_ one: DeliveryDecision, _ result: OutboundResult) {
        let level: Logger.Level = one.isDead ? .warning : .debug
        logger.log(
            level: level, "delivery attempt ended",
            metadata: [
                "delivery": "\(one.lease.delivery.id)", "attempt": "\(one.lease.delivery.attempts + 1)",
                "status": "\(result.status.map(String.init) ?? "-")", "error": "\(one.decision.errorClass ?? "-")",
                "detail": "\(result.failure?.detail ?? "-")",
            ])
    }
}

extension OutboundResult {
    /// True when nothing was sent because the gateway lacked connections, descriptors or memory.
    fileprivate var isOurShortage: Bool { status == nil && failure?.reason == .overloaded }
}
