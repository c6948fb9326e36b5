import ChatModel

/// Decides from the results of recent attempts whether a webhook may begin another. Performs no I/O.
///
/// A receiver that is down would use up the attempts of all its deliveries. After some consecutive failures the lane is
/// therefore closed for a while, then a single attempt tests the receiver. Deliveries that wait lose none of their
/// attempts.
struct CircuitBreaker: Sendable {
    /// The condition as the API shows it.
    enum Condition: String, Sendable {
        case closed, open
        /// One attempt at a time, until one succeeds.
        case halfOpen = "half_open"
    }

    /// The limits to set in the queue. Nil: as in the webhook's settings.
    struct LanePacing: Sendable, Equatable {
        var concurrency: Int?
        var notBefore: Timetoken?
    }

    /// The number of consecutive failures that open the circuit: as many as may begin together by default.
    static let failuresTolerated = 10
    static let shortestPause: Duration = .seconds(10)
    static let longestPause: Duration = .seconds(300)
    /// The minimum pause for `Retry-After`: a receiver may ask for a short pause, but not for a burst of requests.
    static let shortestRetryAfter: Duration = .seconds(1)
    /// The share of a pause by which it is randomly lengthened or shortened.
    static let spread = 0.2
    /// The number of responses from an overwhelmed receiver after which its webhook gets one attempt at a time. Each
    /// good response cancels one of them.
    static let slowAnswersTolerated = 3
    /// The number of attempts at once at which the limit is removed and the webhook's settings apply again.
    static let fullPace = 64

    private var failures = 0
    private var slowAnswers = 0
    /// The maximum number of attempts at once while the receiver recovers from being overwhelmed; nil: as in the
    /// settings.
    private var attemptLimit: Int?
    /// Good responses since `attemptLimit` last changed.
    private var answers = 0
    private var pause = shortestPause
    /// No attempt begins before this time; nil while the circuit is closed.
    private(set) var openUntil: Timetoken?

    var isUntroubled: Bool { failures == 0 && slowAnswers == 0 && attemptLimit == nil && openUntil == nil }

    var pace: LanePacing { LanePacing(concurrency: openUntil != nil ? 1 : attemptLimit, notBefore: openUntil) }

    func condition(at now: Timetoken) -> Condition {
        guard let openUntil else { return .closed }
        return now < openUntil ? .open : .halfOpen
    }

    /// - Parameters:
    ///   - begun: the start of the attempt. An attempt that began before the pause says nothing about the time after
    ///     it.
    ///   - retryAfter: the delay that the receiver requested; it replaces the circuit's own pause.
    ///   - isSlow: true when the receiver is overwhelmed. With `retryAfter`, attempts pause at once.
    ///   - draw: a number in 0..<1 that randomizes the pause.
    mutating func recordFailure(
        begun: Timetoken, at now: Timetoken, retryAfter: Duration?, isSlow: Bool, draw: Double
    ) {
        // A single response must not delay everything for a day.
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

    /// Records a response of a working receiver, even one that rejects the event. The load that overwhelmed the
    /// receiver is not restored at once: `attemptLimit` doubles each time that as many responses have come.
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
