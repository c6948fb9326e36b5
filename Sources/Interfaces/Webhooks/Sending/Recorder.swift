import ChatKit
import ChatModel
import HTTPClient
import JSON
import Logging

/// Writes down how attempts ended, and does what follows for their webhooks.
struct Recorder: Sendable {
    private let service: ChatService
    private let registry: WebhookRegistry
    private let meters: Meters
    private let logger: Logger
    private let table: RetryTable

    init(service: ChatService, registry: WebhookRegistry, meters: Meters, logger: Logger) {
        self.service = service
        self.registry = registry
        self.meters = meters
        self.logger = logger
        table = RetryTable.standard.limited(toAttempts: service.limits.deliveryAttempts)
    }

    /// An attempt and what was decided upon it.
    private struct Ended: Sendable {
        let lease: Lease
        let result: OutboundResult
        let decision: DeliveryState.Decision
        let outcome: DeliveryOutcome
    }

    /// Records until no more answers come.
    /// - Parameter end: called when everything that follows from these attempts is done.
    func run(_ answers: Answers, end: @escaping @Sendable ([Lease]) -> Void) async {
        await withDiscardingTaskGroup { group in
            while let answered = await answers.next() {
                // Runs here up to where it waits for the commit: its endpoints are free for the next at once.
                group.addImmediateTask {
                    await settle(answered)
                    end(answered.map(\.lease))
                }
            }
        }
    }

    private func settle(_ answered: [Answered]) async {
        let now = service.clock.now
        let ended = answered.map { decide($0, now) }
        do throws(ChatError) {
            try await record(ended)
        } catch {
            // The leases run out and the attempts are made again.
            logger.warning(
                "attempts not recorded", metadata: ["count": "\(ended.count)", "error": "\(error.message)"])
            return
        }
        for one in ended {
            let effects = effects(of: one, now)
            if !effects.isEmpty { await perform(effects, one) }
            registry.options.observe?(one.lease.delivery, one.decision)
        }
    }

    private func decide(_ answered: Answered, _ now: Timetoken) -> Ended {
        let lease = answered.lease
        var state = DeliveryState(attempts: lease.delivery.attempts, table: table)
        let decision = state.record(
            DeliveryState.Happening(answered.result, now: now), draw: registry.options.draw())
        let attempt = DeliveryAttempt(
            answered.result, at: answered.start, error: decision.errorClass, isManual: lease.isManual)
        // The bytes are kept from the first failure on: a retry repeats them even if the event is deleted meanwhile.
        let body = lease.body == nil ? answered.body : nil
        let outcome =
            switch decision.next {
            case .delivered: DeliveryOutcome(.delivered, attempt: attempt)
            case .retry(let delay): DeliveryOutcome(.retry(at: now.adding(delay)), attempt: attempt, body: body)
            case .dead(let reason): DeliveryOutcome(.dead(reason: reason), attempt: attempt, body: body)
            }
        return Ended(lease: lease, result: answered.result, decision: decision, outcome: outcome)
    }

    private func record(_ ended: [Ended]) async throws(ChatError) {
        for one in ended {
            meters.addAttempt(one.decision.errorClass ?? "delivered")
            log(one)
        }
        let recorded = try await service.engine.deliveries.finish(ended.map { ($0.lease, $0.outcome) })
        for (one, isRecorded) in zip(ended, recorded) {
            // False when the lease was lost: somebody else has it, and what they record counts.
            if isRecorded, case .dead = one.decision.next { meters.addDead() }
        }
    }

    // MARK: What follows for the webhook

    private func effects(of one: Ended, _ now: Timetoken) -> [EndpointHealth.Effect] {
        let endpoint = one.lease.delivery.endpoint
        if one.decision.errorClass == nil { return registry.health.recordSuccess(of: endpoint) }
        if one.decision.disablesWebhook { return [.disable(reason: "the receiver answered 410 (gone)")] }
        return registry.health.recordFailure(of: endpoint, at: now, isSlow: one.decision.isSlow)
    }

    private func perform(_ effects: [EndpointHealth.Effect], _ one: Ended) async {
        let endpoint = one.lease.delivery.endpoint
        for effect in effects {
            do throws(ChatError) {
                try await perform(effect, endpoint, one.decision, one.result)
            } catch {
                // Each attempt asks again for what is not done.
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
        case .tell:
            for news in try await registry.health.write(endpoint, { notice($0, endpoint, decision, result) }) {
                guard case .failing(let since) = news else { continue }
                logger.warning("webhook failing", metadata: ["webhook": "\(endpoint)", "since": "\(since.timestamp)"])
            }
        }
    }

    private func notice(
        _ news: EndpointHealth.News, _ endpoint: EndpointID, _ decision: DeliveryState.Decision,
        _ result: OutboundResult
    ) -> EventDraft {
        switch news {
        case .failing(let since):
            WebhookRegistry.notice("webhook.failing", of: endpoint) { writer in
                writer.member("failing_since", since.timestamp)
                writer.member("error", decision.errorClass ?? "")
                if let status = result.status { writer.member("status", status) }
            }
        case .recovered: WebhookRegistry.notice("webhook.recovered", of: endpoint) { _ in }
        }
    }

    private func log(_ one: Ended) {
        let level: Logger.Level = if case .dead = one.decision.next { .warning } else { .debug }
        logger.log(
            level: level, "attempt",
            metadata: [
                "delivery": "\(one.lease.delivery.id)", "attempt": "\(one.lease.delivery.attempts + 1)",
                "status": "\(one.result.status.map(String.init) ?? "-")", "error": "\(one.decision.errorClass ?? "-")",
                "detail": "\(one.result.failure?.detail ?? "-")",
            ])
    }
}
