import HTTPClient

/// What follows from an attempt; performs nothing itself.
struct DeliveryState {
    enum AttemptEvent: Sendable {
        /// The status line and the header arrived in time, whatever became of the body.
        case answered(status: Int, retryAfter: Duration?)
        /// No answer came.
        case failed(OutboundFailure.Reason)
    }

    enum Next: Sendable, Equatable {
        case delivered
        case retry(after: Duration)
        case dead(reason: String)
    }

    struct Decision: Sendable, Equatable {
        var next: Next
        /// A class of `conventions.md` 10; nil on success.
        var errorClass: String?
        /// The receiver has said that it is gone for good.
        var disablesWebhook = false
        /// The receiver is overwhelmed or keeps us waiting.
        var isSlow = false
        /// Whether it did its work, whatever it made of what was sent.
        var receiver = Receiver.present
    }

    /// What an attempt tells of the receiver, beside the delivery.
    enum Receiver: Sendable, Equatable {
        /// It answered, be it that it does not want this one.
        case present
        /// It could not be reached, is not where the URL says, does not let us in, or said that it cannot work now: what this
        /// delivery met, the next will meet.
        case absent(retryAfter: Duration?)
        /// The attempt ended on our side.
        case unknown
    }

    /// Why a delivery is dead, as it is stored; the queue has `webhook_deleted` and `held_too_many` beside.
    static let exhausted = "attempts_exhausted"
    static let eventGone = "event_not_kept"
    static let webhookDeleted = "webhook_deleted"

    let table: RetryTable
    /// Attempts made so far.
    private(set) var attempts: Int

    init(attempts: Int, table: RetryTable) {
        self.attempts = attempts
        self.table = table
    }

    /// - Parameter draw: a number in 0..<1 that spreads the next attempt; asked for only if there is one.
    mutating func record(_ happening: AttemptEvent, draw: @autoclosure () -> Double) -> Decision {
        attempts += 1
        switch happening {
        case .answered(200..<300, _):
            return Decision(next: .delivered, errorClass: nil)
        case .answered(410, _):
            // Held while the webhook is disabled; goes out again should its owner enable it.
            return Decision(
                next: next(nil, draw()), errorClass: "http_status", disablesWebhook: true)
        case .answered(300..<400, let retryAfter):
            return Decision(
                next: next(retryAfter, draw()), errorClass: "redirect", receiver: .absent(retryAfter: retryAfter))
        case .answered(let status, let retryAfter):
            return Decision(
                next: next(retryAfter, draw()), errorClass: "http_status",
                isSlow: [429, 502, 503, 504].contains(status),
                receiver: Self.isAbsence(status) ? .absent(retryAfter: retryAfter) : .present)
        case .failed(let reason):
            return Decision(
                next: next(nil, draw()), errorClass: reason.rawValue,
                isSlow: reason == .timeout || reason == .connectTimeout,
                receiver: reason.isOurs ? .unknown : .absent(retryAfter: nil))
        }
    }

    /// Not of one event: whoever answers so to one answers so to all. The other 4xx may be about what was sent.
    private static func isAbsence(_ status: Int) -> Bool {
        status >= 500 || [401, 403, 404, 405, 407, 429].contains(status)
    }

    /// Never before the schedule, also when the receiver would have us back sooner.
    private func next(_ retryAfter: Duration?, _ draw: Double) -> Next {
        guard let delay = table.delay(afterAttempt: attempts, draw: draw) else {
            return .dead(reason: Self.exhausted)
        }
        return .retry(after: max(delay, min(retryAfter ?? .zero, RetryTable.longestRetryAfter)))
    }
}

extension OutboundFailure.Reason {
    /// Whether it says nothing about the receiver.
    fileprivate var isOurs: Bool { [.cancelled, .requestInvalid, .overloaded, .blockedAddress].contains(self) }
}

/// When a delivery is tried again (`conventions.md` 10; the example of the Standard Webhooks specification).
struct RetryTable: Sendable {
    /// Delays after the first, second, … attempt. When they are used up, the delivery is given up.
    let delays: [Duration]
    /// The share of a delay by which it is spread to either side, so that a receiver that comes back is not met by
    /// everything at one moment.
    let spread: Double

    static let standard = RetryTable(
        delays: [
            .seconds(5), .seconds(5 * 60), .seconds(30 * 60), .seconds(2 * 3600), .seconds(5 * 3600),
            .seconds(10 * 3600), .seconds(14 * 3600), .seconds(20 * 3600), .seconds(24 * 3600),
        ], spread: 0.2)

    /// A receiver may ask for a later attempt, up to this.
    static let longestRetryAfter: Duration = .seconds(24 * 3600)

    /// - Parameters:
    ///   - attempt: attempts made, from 1.
    ///   - draw: a number in 0..<1.
    /// - Returns: nil when no attempt is left.
    func delay(afterAttempt attempt: Int, draw: Double) -> Duration? {
        guard delays.indices.contains(attempt - 1) else { return nil }
        return delays[attempt - 1] * (1 - spread + 2 * spread * draw)
    }

    /// The table for a number of attempts: cut off, or the last delay repeated.
    func limited(toAttempts attempts: Int) -> RetryTable {
        let wanted = max(attempts - 1, 0)
        let more = max(wanted - delays.count, 0)
        let last = delays.last ?? .seconds(24 * 3600)
        return RetryTable(delays: delays.prefix(wanted) + Array(repeating: last, count: more), spread: spread)
    }
}
