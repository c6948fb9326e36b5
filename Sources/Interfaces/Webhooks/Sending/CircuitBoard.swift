import ChatModel
import Locking

/// The circuit breakers of endpoints that fail, and what the queue was told of them. In memory: after a restart each
/// endpoint is given another chance.
final class CircuitBoard: Sendable {
    private struct Entry: Sendable {
        var breaker = CircuitBreaker()
        /// What the queue goes by.
        var told = CircuitBreaker.Pace()
        var isTelling = false
    }

    private let queue: any DeliveryQueue
    private let entries = Lock<[EndpointID: Entry]>([:])

    init(queue: any DeliveryQueue) { self.queue = queue }

    /// How an endpoint stands; `until` while no attempt may begin.
    func state(
        of endpoint: EndpointID, at now: Timetoken
    ) -> (condition: CircuitBreaker.Condition, until: Timetoken?) {
        guard let breaker = entries.withLock({ $0[endpoint]?.breaker }) else { return (.closed, nil) }
        let condition = breaker.condition(at: now)
        return (condition, condition == .open ? breaker.openUntil : nil)
    }

    /// Endpoints that get no attempt or only a single one for trial.
    var openCount: Int { entries.withLock { $0.values.count { $0.breaker.openUntil != nil } } }

    /// Takes in how an attempt ended, and tells the queue what follows.
    func record(
        _ decision: DeliveryState.Decision, of endpoint: EndpointID, begun: Timetoken, at now: Timetoken,
        _ draw: () -> Double
    ) async {
        switch decision.receiver {
        case .present: await recordAnswer(of: endpoint)
        case .unknown: break
        case .absent(let retryAfter):
            await change(endpoint) { breaker in
                breaker.recordFailure(
                    begun: begun, at: now, retryAfter: retryAfter, isSlow: decision.isSlow, draw: draw())
            }
        }
    }

    private func change(_ endpoint: EndpointID, _ change: (inout CircuitBreaker) -> Void) async {
        entries.withLock { change(&$0[endpoint, default: Entry()].breaker) }
        await settle(endpoint)
    }

    /// As though nothing had failed: its owner has done something about it, or wants to see at once.
    func reset(_ endpoint: EndpointID) async {
        if isTroubled(endpoint) { await change(endpoint) { $0 = CircuitBreaker() } }
    }

    private func recordAnswer(of endpoint: EndpointID) async {
        if isTroubled(endpoint) { await change(endpoint) { $0.recordAnswer() } }
    }

    /// Most often all are well, and this is asked for each delivery.
    private func isTroubled(_ endpoint: EndpointID) -> Bool {
        entries.withLock { !$0.isEmpty && $0[endpoint] != nil }
    }

    /// Tells the queue until it knows. One at a time: two could reach it in the other order, so whoever comes while another
    /// is at it leaves it to them.
    private func settle(_ endpoint: EndpointID) async {
        var next = entries.withLock { Self.begin(&$0, endpoint) }
        while let pace = next {
            await queue.pace(endpoint, concurrency: pace.concurrency, notBefore: pace.notBefore)
            next = entries.withLock { entries in
                entries[endpoint]?.told = pace
                entries[endpoint]?.isTelling = false
                return Self.begin(&entries, endpoint)
            }
        }
    }

    /// What is to be told now; nil when nothing is, or somebody is at it.
    private static func begin(_ entries: inout [EndpointID: Entry], _ endpoint: EndpointID) -> CircuitBreaker.Pace? {
        guard let entry = entries[endpoint], !entry.isTelling else { return nil }
        if entry.breaker.pace != entry.told {
            entries[endpoint]?.isTelling = true
            return entry.breaker.pace
        }
        if entry.breaker.isUntroubled { entries[endpoint] = nil }
        return nil
    }
}
