import ChatModel
import Locking

/// The circuit breakers of endpoints that fail, and what the queue was told of them. In memory: after a restart each
/// endpoint is given another chance.
final class CircuitBreakers: Sendable {
    private struct Entry: Sendable {
        var breaker = CircuitBreaker()
        /// What the queue goes by.
        var told = CircuitBreaker.LanePacing()
        var isTelling = false
    }

    private let queue: any DeliveryQueue
    private let entries = Lock<[SubscriberID: Entry]>([:])

    init(queue: any DeliveryQueue) { self.queue = queue }

    /// How an endpoint stands; `until` while no attempt may begin.
    func state(
        of subscriber: SubscriberID, at now: Timetoken
    ) -> (condition: CircuitBreaker.Condition, until: Timetoken?) {
        guard let breaker = entries.withLock({ $0[subscriber]?.breaker }) else { return (.closed, nil) }
        let condition = breaker.condition(at: now)
        return (condition, condition == .open ? breaker.openUntil : nil)
    }

    /// Endpoints that get no attempt or only a single one for trial.
    var openCount: Int { entries.withLock { $0.values.count { $0.breaker.openUntil != nil } } }

    /// Takes in how an attempt ended, and tells the queue what follows.
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
        await settle(subscriber)
    }

    /// As though nothing had failed: its owner has done something about it, or wants to see at once.
    func reset(_ subscriber: SubscriberID) async {
        if isTroubled(subscriber) { await change(subscriber) { $0 = CircuitBreaker() } }
    }

    private func recordAnswer(of subscriber: SubscriberID) async {
        if isTroubled(subscriber) { await change(subscriber) { $0.recordAnswer() } }
    }

    /// Most often all are well, and this is asked for each delivery.
    private func isTroubled(_ subscriber: SubscriberID) -> Bool {
        entries.withLock { !$0.isEmpty && $0[subscriber] != nil }
    }

    /// Tells the queue until it knows. One at a time: two could reach it in the other order, so whoever comes while another
    /// is at it leaves it to them.
    private func settle(_ subscriber: SubscriberID) async {
        var next = entries.withLock { Self.begin(&$0, subscriber) }
        while let pace = next {
            await queue.pace(subscriber, concurrency: pace.concurrency, notBefore: pace.notBefore)
            next = entries.withLock { entries in
                entries[subscriber]?.told = pace
                entries[subscriber]?.isTelling = false
                return Self.begin(&entries, subscriber)
            }
        }
    }

    /// What is to be told now; nil when nothing is, or somebody is at it.
    private static func begin(
        _ entries: inout [SubscriberID: Entry], _ subscriber: SubscriberID
    ) -> CircuitBreaker.LanePacing? {
        guard let entry = entries[subscriber], !entry.isTelling else { return nil }
        if entry.breaker.pace != entry.told {
            entries[subscriber]?.isTelling = true
            return entry.breaker.pace
        }
        if entry.breaker.isUntroubled { entries[subscriber] = nil }
        return nil
    }
}
