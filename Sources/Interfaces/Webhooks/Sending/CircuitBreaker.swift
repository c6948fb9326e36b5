import ChatModel

/// Whether an endpoint is worth an attempt, judged by how the last ones ended; performs nothing itself.
///
/// A receiver that is down would use up the attempts of everything owed to it. So after some failures on end its lane is
/// shut for a while, then a single attempt shows how it is; deliveries that wait lose none of theirs.
struct CircuitBreaker: Sendable {
    /// As users see it.
    enum Condition: String, Sendable {
        case closed, open
        /// One attempt at a time, until one ends well.
        case halfOpen = "half_open"
    }

    /// What the queue is to be told. Nil: as the webhook's settings have it.
    struct LanePacing: Sendable, Equatable {
        var concurrency: Int?
        var notBefore: Timetoken?
    }

    /// Failures on end that say nothing yet: as many as begin together by default.
    static let failuresTolerated = 10
    static let shortestPause: Duration = .seconds(10)
    static let longestPause: Duration = .seconds(300)
    /// A receiver may ask for a moment, but not for a storm of requests.
    static let shortestRetryAfter: Duration = .seconds(1)
    /// The share of a pause by which it is spread to either side.
    static let spread = 0.2
    /// Answers of a receiver that is overwhelmed after which its endpoint gets one attempt at a time; each good one makes up
    /// for one of them.
    static let slowAnswersTolerated = 3
    /// An endpoint that may have so many attempts under way again is as its settings have it.
    static let fullPace = 64

    private var failures = 0
    private var slowAnswers = 0
    /// Attempts under way at once while the receiver recovers from having been overwhelmed; nil: as the settings have it.
    private var room: Int?
    /// Good answers since there is as much room.
    private var answers = 0
    private var pause = shortestPause
    /// No attempt begins earlier; nil while it is closed.
    private(set) var openUntil: Timetoken?

    var isUntroubled: Bool { failures == 0 && slowAnswers == 0 && room == nil && openUntil == nil }

    var pace: LanePacing { LanePacing(concurrency: openUntil != nil ? 1 : room, notBefore: openUntil) }

    func condition(at now: Timetoken) -> Condition {
        guard let openUntil else { return .closed }
        return now < openUntil ? .open : .halfOpen
    }

    /// - Parameters:
    ///   - begun: when the attempt began. What began before the pause tells nothing about what comes after it.
    ///   - retryAfter: what the receiver asked for; goes before the pause of ours.
    ///   - isSlow: the receiver is overwhelmed. If it says for how long, it is let alone at once.
    ///   - draw: a number in 0..<1 that spreads the pause.
    mutating func recordFailure(
        begun: Timetoken, at now: Timetoken, retryAfter: Duration?, isSlow: Bool, draw: Double
    ) {
        // One answer is no reason to let everything wait for a day.
        let longest = failures + 1 < Self.failuresTolerated ? Self.longestPause : RetryTable.longestRetryAfter
        let wish = retryAfter.map { min(max($0, Self.shortestRetryAfter), longest) }
        if let openUntil, begun < openUntil {
            if let wish { self.openUntil = max(openUntil, now.adding(wish)) }
            return
        }
        failures += 1
        if isSlow {
            slowAnswers += 1
            if wish != nil || slowAnswers >= Self.slowAnswersTolerated { slowDown() }
        }
        guard failures >= Self.failuresTolerated else {
            if isSlow, let wish { openUntil = now.adding(wish) }
            return
        }
        openUntil = now.adding(wish ?? pause * (1 - Self.spread + 2 * Self.spread * draw))
        pause = min(pause * 2, Self.longestPause)
    }

    private mutating func slowDown() {
        room = max(1, (room ?? 1) / 2)
        (slowAnswers, answers) = (0, 0)
    }

    /// The receiver does its work, or has at least looked at what was sent. What it was overwhelmed by it does not get again
    /// at once: the room doubles each time that many answers have come.
    mutating func recordAnswer() {
        (failures, openUntil, pause) = (0, nil, Self.shortestPause)
        slowAnswers = max(0, slowAnswers - 1)
        guard let room else { return }
        answers += 1
        guard answers >= room else { return }
        self.room = room * 2 < Self.fullPace ? room * 2 : nil
        answers = 0
    }
}
