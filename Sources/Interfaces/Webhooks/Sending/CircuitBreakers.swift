import ChatModel
import Locking

/// The circuit breakers of failing webhooks, and the limits set in the queue for them. Kept in memory: a restart resets
/// them.
final class CircuitBreakers: Sendable {
    private struct Entry: Sendable {
        var breaker = CircuitBreaker()
        /// The limits that the queue uses at present.
        var applied = CircuitBreaker.LanePacing()
        var isApplying = false
    }

    private let queue: any DeliveryQueue
    private let entries = Lock<[SubscriberID: Entry]>([:])

    init(queue: any DeliveryQueue) { self.queue = queue }

    /// The condition of a webhook's circuit; `until` is set while no attempt may begin.
    func state(
        of subscriber: SubscriberID, at now: Timetoken
    ) -> (condition: CircuitBreaker.Condition, until: Timetoken?) {
        guard let breaker = entries.withLock({ $0[subscriber]?.breaker }) else { return (.closed, nil) }
        let condition = breaker.condition(at: now)
        return (condition, condition == .open ? breaker.openUntil : nil)
    }

    /// The number of webhooks that get no attempt, or only a single test attempt.
    var openCount: Int { entries.withLock { $0.values.count { $0.breaker.openUntil != nil } } }

    /// Records the result of an attempt and updates the limits in the queue.
    func record(
        _ decision: DeliveryState.Decision, of subscriber: SubscriberID, begun: Timetoken, at now: Timetoken,
        _ draw: () -> Double
    ) async {
        switch decision.receiver {
        case .present: await recordAnswer(of: subscriber)
        case .unknown: break
        case .absent(let retryAfter):
            await change(subscriber) { breaker in
                breaker.recordFailure(
                    begun: begun, at: now, retryAfter: retryAfter, isSlow: decision.isSlow, draw: draw())
            }
        }
    }

    private func change(_ subscriber: SubscriberID, _ change: (inout CircuitBreaker) -> Void) async {
        entries.withLock { change(&$0[subscriber, default: Entry()].breaker) }
        await applyPacing(of: subscriber)
    }

    /// Resets the circuit, because the webhook's owner has acted or wants to see the present state at once.
    func reset(_ subscriber: SubscriberID) async {
        if isTroubled(subscriber) { await change(subscriber) { $0 = CircuitBreaker() } }
    }

    private func recordAnswer(of subscriber: SubscriberID) async {
        if isTroubled(subscriber) { await change(subscriber) { $0.recordAnswer() } }
    }

    /// A quick test: most often no webhook fails, and this runs for each delivery.
    private func isTroubled(_ subscriber: SubscriberID) -> Bool {
        entries.withLock { !$0.isEmpty && $0[subscriber] != nil }
    }

    /// Updates the limits in the queue until they are current. Only one caller at a time does so, because two updates
    /// could arrive in the wrong order; a caller that finds another at work leaves the update to it.
    private func applyPacing(of subscriber: SubscriberID) async {
        var next = entries.withLock { Self.nextPacing(&$0, subscriber) }
        while let pace = next {
            await queue.pace(subscriber, concurrency: pace.concurrency, notBefore: pace.notBefore)
            next = entries.withLock { entries in
                entries[subscriber]?.applied = pace
                entries[subscriber]?.isApplying = false
                return Self.nextPacing(&entries, subscriber)
            }
        }
    }

    /// The limits to set now; nil when they are current, or another caller is setting them.
    private static func nextPacing(
        _ entries: inout [SubscriberID: Entry], _ subscriber: SubscriberID
    ) -> CircuitBreaker.LanePacing? {
        guard let entry = entries[subscriber], !entry.isApplying else { return nil }
        if entry.breaker.pace != entry.applied {
            entries[subscriber]?.isApplying = true
            return entry.breaker.pace
        }
        if entry.breaker.isUntroubled { entries[subscriber] = nil }
        return nil
    }
}
