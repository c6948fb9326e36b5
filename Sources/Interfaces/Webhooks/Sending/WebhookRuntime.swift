import ChatModel
import Locking

/// The state of a webhook that is not part of its record: its circuit breaker, its failures, the statistics of its
/// attempts, and the notices of lost deliveries. Only the start of a reported failure outlasts a restart
/// (``WebhookHealth``).
///
/// The ``RegistrySnapshot`` owns the state and removes it with the webhook. A pull subscription has such a state too,
/// but uses it only for the notices of lost deliveries.
final class WebhookRuntime: Sendable {
    private struct State: Sendable {
        var breaker = CircuitBreaker()
        /// The limits that the circuit breaker requests for the webhook's lane. `WrittenValue` tracks whether they are
        /// set in the queue.
        var pacing = WrittenValue(CircuitBreaker.LanePacing())
        var failures = WebhookFailureState()
        /// The statistics of attempts; nil before the first attempt.
        var statistics: AttemptStatistics?
        var overflow = OverflowNotice()
    }

    let subscriber: SubscriberID
    private let state = Lock(State())

    init(_ subscriber: SubscriberID) { self.subscriber = subscriber }

    /// Writes changes one after the other until there are no more changes. Only one caller writes at a time, because
    /// two writes could arrive in the wrong order. The caller that writes also writes the changes of other callers.
    ///
    /// - Parameters:
    ///   - begin: returns the next change; nil when there is no change, or when another caller is writing.
    ///   - end: receives the change that was written; nil when the write failed.
    private func writeInTurn<Change: Sendable, Failure: Error>(
        begin: (inout State) -> Change?, end: (inout State, Change?) -> Void,
        _ write: (Change) async throws(Failure) -> Void
    ) async throws(Failure) {
        while let change = state.withLock({ begin(&$0) }) {
            do throws(Failure) {
                try await write(change)
            } catch {
                state.withLock { end(&$0, nil) }
                throw error
            }
            state.withLock { end(&$0, change) }
        }
    }

    // MARK: Circuit

    /// True when the circuit breaker permits no attempts, or only one test attempt at a time.
    var isCircuitOpen: Bool { state.withLock { $0.breaker.openUntil != nil } }

    /// The state of the circuit. `until` is the time before which no attempt begins; nil unless the circuit is open.
    func circuit(at now: Timetoken) -> (condition: CircuitBreaker.Condition, until: Timetoken?) {
        let breaker = state.withLock { $0.breaker }
        let condition = breaker.condition(at: now)
        return (condition, condition == .open ? breaker.openUntil : nil)
    }

    /// Records the state of the receiver in the circuit breaker, and updates the limits in the queue.
    func recordReceiver(
        _ decision: DeliveryState.Decision, begun: Timetoken, at now: Timetoken, in queue: any DeliveryQueue,
        draw: () -> Double
    ) async {
        switch decision.receiver {
        case .present: await changeCircuit(in: queue) { $0.recordAnswer() }
        case .unknown: break
        case .absent(let retryAfter):
            await changeCircuit(in: queue) { breaker in
                breaker.recordFailure(
                    begun: begun, at: now, retryAfter: retryAfter, isSlow: decision.isSlow, draw: draw())
            }
        }
    }

    /// Closes the circuit, so that deliveries are attempted immediately. Called when the webhook is enabled or gets
    /// another URL, when a delivery is retried manually, when a replay starts, and after a successful test.
    func resetCircuit(in queue: any DeliveryQueue) async { await changeCircuit(in: queue) { $0 = CircuitBreaker() } }

    private func changeCircuit(in queue: any DeliveryQueue, _ change: (inout CircuitBreaker) -> Void) async {
        state.withLock { change(&$0.breaker) }
        await writeInTurn { state in
            state.pacing.begin(state.breaker.pace)
        } end: { state, pace in
            state.pacing.end(pace)
        } _: { pace in
            await queue.pace(subscriber, concurrency: pace.concurrency, notBefore: pace.notBefore)
        }
    }

    // MARK: Failures

    /// The time of the first failure since the last success; nil while deliveries succeed.
    var failingSince: Timetoken? { state.withLock { $0.failures.failingSince } }

    /// The newest failure since the last success; nil if there was no failure.
    var lastError: AttemptError? { state.withLock { $0.failures.lastError } }

    /// Sets the start of a failure that an earlier run of the gateway has stored.
    func load(failingSince since: Timetoken) {
        state.withLock { $0.failures = WebhookFailureState(writtenSince: since) }
    }

    /// Takes over the start of a failure that another node has stored; nil when that node has stored a recovery.
    func follow(failingSince since: Timetoken?) { state.withLock { $0.failures.follow(since) } }

    /// Takes note of a success on another node. Returns true when it is later than the start of this node's failures,
    /// which then begin anew.
    func follow(successAt success: Timetoken, now: Timetoken) -> Bool {
        state.withLock { state in
            let before = state.failures.failingSince
            state.failures.follow(successAt: success, now: now)
            return state.failures.failingSince != before
        }
    }

    func forgetFailures() { state.withLock { $0.failures = WebhookFailureState() } }

    func recordSuccess() -> [WebhookFailureState.Effect] { state.withLock { $0.failures.recordSuccess() } }

    func recordFailure(
        _ error: AttemptError, dead: Int, deadTolerated: Int
    ) -> [WebhookFailureState.Effect] {
        state.withLock {
            $0.failures.recordFailure(at: error.at, dead: dead, deadTolerated: deadTolerated, error: error)
        }
    }

    /// Stores each change that is not stored yet, together with the event that reports it.
    ///
    /// - Returns: the stored changes, without the changes that another process or an earlier run had already stored.
    /// - Throws: the errors of the store. The write is repeated after the webhook's next attempt.
    func writeNotices(
        to store: WebhookHealth, _ event: (WebhookFailureState.OperatorNotice) -> EventDraft
    ) async throws(ChatError) -> [WebhookFailureState.OperatorNotice] {
        var written: [WebhookFailureState.OperatorNotice] = []
        try await writeInTurn { state in
            state.failures.beginWriting()
        } end: { state, notice in
            state.failures.endWriting(notice)
        } _: { (notice) async throws(ChatError) in
            if try await store.write(notice, of: subscriber, event(notice)) { written.append(notice) }
        }
        return written
    }

    // MARK: Statistics

    var statistics: AttemptStatistics? { state.withLock { $0.statistics } }

    func recordAttempt(at now: Timetoken, isDelivered: Bool, milliseconds: Int) {
        state.withLock { state in
            if state.statistics == nil { state.statistics = AttemptStatistics() }
            state.statistics?.record(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        }
    }

    /// Counts lost deliveries. Returns the number of deliveries lost since the last report, which must be reported now;
    /// nil when the last report is less than `OverflowNotice.interval` ago.
    func addLost(_ count: Int, at now: Timetoken) -> Int? { state.withLock { $0.overflow.add(count, at: now) } }
}

/// A value that has a copy in the store or the queue. One task at a time updates the copy. Performs no I/O.
struct WrittenValue<Value: Equatable & Sendable>: Sendable {
    /// The value that was last written.
    private(set) var value: Value
    private(set) var isWriting = false

    init(_ value: Value) { self.value = value }

    /// Begins to write a value, and returns it. `end` must follow. Nil when the copy already has this value, or another
    /// task is writing.
    mutating func begin(_ wanted: Value) -> Value? {
        guard !isWriting, wanted != value else { return nil }
        isWriting = true
        return wanted
    }

    /// Ends a write.
    ///
    /// - Parameter written: the value that was written; nil when the write failed.
    mutating func end(_ written: Value?) {
        guard isWriting else { return }
        isWriting = false
        if let written { value = written }
    }
}

/// Decides when operators are notified that a webhook or subscription has reached its limit of waiting deliveries:
/// after the first lost delivery, and then at intervals with the number of further losses.
struct OverflowNotice: Sendable {
    /// The minimum interval between two notices. A queue at its limit loses a delivery with each event.
    static let interval: Duration = .seconds(3600)

    private var notified: Timetoken?
    private var unreported = 0

    mutating func add(_ count: Int, at now: Timetoken) -> Int? {
        unreported += count
        if let notified, now < notified.adding(Self.interval) { return nil }
        defer { (notified, unreported) = (now, 0) }
        return unreported
    }
}

extension WebhookRegistry {
    /// The runtime state of a webhook or subscription; nil when it is unknown or deleted.
    func runtime(of subscriber: SubscriberID) -> WebhookRuntime? { snapshot.withLock { $0.runtime(of: subscriber) } }

    /// Closes the circuit of a webhook on all nodes.
    ///
    /// - Parameter forgetsFailures: true to forget the webhook's failures too.
    func resetCircuit(of subscriber: SubscriberID, forgetsFailures: Bool = false) async {
        await resetCircuitHere(of: subscriber, forgetsFailures: forgetsFailures)
        // The request does not wait for the other nodes. A node that does not answer tests the receiver later.
        Task { try? await callReset(of: subscriber, forgetsFailures: forgetsFailures) }
    }

    func resetCircuitHere(of subscriber: SubscriberID, forgetsFailures: Bool) async {
        guard let runtime = runtime(of: subscriber) else { return }
        if forgetsFailures { runtime.forgetFailures() }
        await runtime.resetCircuit(in: queue)
    }
}
