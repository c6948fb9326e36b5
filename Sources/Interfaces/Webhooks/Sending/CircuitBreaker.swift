import ChatModel

/// The circuit breaker of one webhook: decides from the results of recent attempts when the next attempts may begin.
/// Performs no I/O.
///
/// After consecutive failures, no attempts are made for some time. A single attempt then tests the receiver. Meanwhile,
/// the waiting deliveries lose none of their attempts. Without the circuit breaker, each delivery to an unavailable
/// receiver would use up its attempts.
struct CircuitBreaker: Sendable {
    /// The state of the circuit, as the API shows it.
    enum Condition: String, Sendable {
        case closed, open
        /// One attempt at a time is made, until an attempt succeeds.
        case halfOpen = "half_open"
    }

    /// The limits that the circuit breaker sets for the webhook's lane (its part of the queue): the number of
    /// simultaneous attempts, and the time before which no attempt begins. Nil values leave the webhook's own settings
    /// in effect.
    struct LanePacing: Sendable, Equatable {
        var concurrency: Int?
        var notBefore: Timetoken?
    }

    /// The number of consecutive failures that open the circuit. It equals the default number of simultaneous attempts.
    static let failuresTolerated = 10
    static let shortestPause: Duration = .seconds(10)
    static let longestPause: Duration = .seconds(300)
    /// The minimum pause after a response with `Retry-After`. A receiver may request a short pause, but a pause of zero
    /// would cause a burst of requests.
    static let shortestRetryAfter: Duration = .seconds(1)
    /// The share of a pause by which the pause is randomly lengthened or shortened.
    static let spread = 0.2
    /// The number of overload responses after which `attemptLimit` is reduced: to one if it is nil, otherwise to half
    /// of its value. Each good response cancels one overload response.
    static let slowAnswersTolerated = 3
    /// The recovery from an overload ends when doubling `attemptLimit` would reach this number. `attemptLimit` then
    /// becomes nil, so that only the limit of the webhook's settings applies.
    static let fullPace = 64

    private var failures = 0
    private var slowAnswers = 0
    /// The maximum number of simultaneous attempts while an overloaded receiver recovers; nil for the limit of the
    /// settings.
    private var attemptLimit: Int?
    /// The number of good responses since `attemptLimit` last changed.
    private var answers = 0
    private var pause = shortestPause
    /// The time before which no attempt begins; nil while the circuit is closed.
    private(set) var openUntil: Timetoken?

    var isUntroubled: Bool { failures == 0 && slowAnswers == 0 && attemptLimit == nil && openUntil == nil }

    var pace: LanePacing { LanePacing(concurrency: openUntil != nil ? 1 : attemptLimit, notBefore: openUntil) }

    func condition(at now: Timetoken) -> Condition {
        guard let openUntil else { return .closed }
        return now < openUntil ? .open : .halfOpen
    }

    /// Records a failed attempt.
    ///
    /// - Parameters:
    ///   - begun: the start of the attempt. The failure of an attempt that began before the end of the current pause is
    ///     not counted; only its `retryAfter` may lengthen the pause.
    ///   - retryAfter: the delay that the receiver requested; nil for none. It replaces the pause of the circuit.
    ///   - isSlow: true when the receiver is overloaded. If `retryAfter` is also set, attempts pause immediately.
    ///   - draw: a random number in 0..<1, which varies the pause.
    mutating func recordFailure(
        begun: Timetoken, at now: Timetoken, retryAfter: Duration?, isSlow: Bool, draw: Double
    ) {
        // A single response of the receiver must not delay all deliveries for a day.
        let longest = failures + 1 < Self.failuresTolerated ? Self.longestPause : RetryTable.longestRetryAfter
        let requestedPause = retryAfter.map { min(max($0, Self.shortestRetryAfter), longest) }
        if let openUntil, begun < openUntil {
            if let requestedPause { self.openUntil = max(openUntil, now.adding(requestedPause)) }
            return
        }
        failures += 1
        if isSlow {
            slowAnswers += 1
            if requestedPause != nil || slowAnswers >= Self.slowAnswersTolerated { slowDown() }
        }
        guard failures >= Self.failuresTolerated else {
            if isSlow, let requestedPause { openUntil = now.adding(requestedPause) }
            return
        }
        openUntil = now.adding(requestedPause ?? pause * (1 - Self.spread + 2 * Self.spread * draw))
        pause = min(pause * 2, Self.longestPause)
    }

    private mutating func slowDown() {
        attemptLimit = max(1, (attemptLimit ?? 1) / 2)
        (slowAnswers, answers) = (0, 0)
    }

    /// Records a response of a working receiver, even a response that rejects the event. After an overload, the number
    /// of simultaneous attempts grows slowly: `attemptLimit` n doubles after n good responses.
    mutating func recordAnswer() {
        (failures, openUntil, pause) = (0, nil, Self.shortestPause)
        slowAnswers = max(0, slowAnswers - 1)
        guard let attemptLimit else { return }
        answers += 1
        guard answers >= attemptLimit else { return }
        self.attemptLimit = attemptLimit * 2 < Self.fullPace ? attemptLimit * 2 : nil
        answers = 0
    }
}
