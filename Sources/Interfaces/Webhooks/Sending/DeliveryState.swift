import HTTPClient

/// Decides the consequences of an attempt. Performs no I/O.
struct DeliveryState {
    enum AttemptEvent: Sendable {
        /// The status line and the header arrived in time, whatever happened to the body.
        case answered(status: Int, retryAfter: Duration?)
        /// No response arrived.
        case failed(OutboundFailure.Reason)
    }

    enum Next: Sendable, Equatable {
        case delivered
        case retry(after: Duration)
        case dead(reason: String)
    }

    struct Decision: Sendable, Equatable {
        var next: Next
        /// The error class; nil on success.
        var errorClass: String?
        /// True when the receiver has said that it is gone permanently (410).
        var disablesWebhook = false
        /// True when the receiver is overwhelmed or did not respond in time.
        var isSlow = false
        /// The state of the receiver, whatever it answered to this event.
        var receiver = Receiver.present
    }

    /// The receiver's state as shown by an attempt, apart from the delivery.
    enum Receiver: Sendable, Equatable {
        /// It answered, even if it rejected this event.
        case present
        /// It could not be reached, is not at the URL, rejects the credentials, or said that it cannot work now. The
        /// next delivery would fail in the same way.
        case absent(retryAfter: Duration?)
        /// The attempt ended on the gateway's side.
        case unknown
    }

    /// Stored reasons for a dead delivery; the queue adds `webhook_deleted` and `held_too_many`.
    static let exhausted = "attempts_exhausted"
    static let eventGone = "event_not_kept"
    static let webhookDeleted = "webhook_deleted"

    let table: RetryTable
    /// The number of attempts made so far.
    private(set) var attempts: Int

    init(attempts: Int, table: RetryTable) {
        self.attempts = attempts
        self.table = table
    }

    /// - Parameter draw: a number in 0..<1 that randomizes the next attempt; evaluated only when there is one.
    mutating func record(_ event: AttemptEvent, draw: @autoclosure () -> Double) -> Decision {
        attempts += 1
        switch event {
        case .answered(200..<300, _):
            return Decision(next: .delivered, errorClass: nil)
        case .answered(410, _):
            // The delivery is held while the webhook is disabled, and sent again when its owner enables it.
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

    /// True for a status that does not depend on the event: the receiver would answer every event with it. The other
    /// 4xx may concern what was sent.
    private static func isAbsence(_ status: Int) -> Bool {
        status >= 500 || [401, 403, 404, 405, 407, 429].contains(status)
    }

    /// Never earlier than the schedule, even when the receiver asks for an earlier retry.
    private func next(_ retryAfter: Duration?, _ draw: Double) -> Next {
        guard let delay = table.delay(afterAttempt: attempts, draw: draw) else {
            return .dead(reason: Self.exhausted)
        }
        return .retry(after: max(delay, min(retryAfter ?? .zero, RetryTable.longestRetryAfter)))
    }
}

extension OutboundFailure.Reason {
    /// True when the failure says nothing about the receiver.
    fileprivate var isOurs: Bool { [.cancelled, .requestInvalid, .overloaded, .blockedAddress].contains(self) }
}

/// The schedule of retries. The default follows the example in the Standard Webhooks specification.
struct RetryTable: Sendable {
    /// The delays after the first, second, … attempt. When they are used up, the delivery is given up.
    let delays: [Duration]
    /// The share of a delay by which it is randomly lengthened or shortened, so that a receiver that recovers does not
    /// get all deliveries at the same moment.
    let spread: Double

    static let standard = RetryTable(
        delays: [
            .seconds(5), .seconds(5 * 60), .seconds(30 * 60), .seconds(2 * 3600), .seconds(5 * 3600),
            .seconds(10 * 3600), .seconds(14 * 3600), .seconds(20 * 3600), .seconds(24 * 3600),
        ], spread: 0.2)

    /// The longest delay that a receiver may request.
    static let longestRetryAfter: Duration = .seconds(24 * 3600)

    /// - Parameters:
    ///   - attempt: the number of attempts made, from 1.
    ///   - draw: a number in 0..<1.
    /// - Returns: nil when no attempt is left.
    func delay(afterAttempt attempt: Int, draw: Double) -> Duration? {
        guard delays.indices.contains(attempt - 1) else { return nil }
        return delays[attempt - 1] * (1 - spread + 2 * spread * draw)
    }

    /// The table for a number of attempts: truncated, or with the last delay repeated.
    func limited(toAttempts attempts: Int) -> RetryTable {
        let wanted = max(attempts - 1, 0)
        let more = max(wanted - delays.count, 0)
        let last = delays.last ?? .seconds(24 * 3600)
        return RetryTable(delays: delays.prefix(wanted) + Array(repeating: last, count: more), spread: spread)
    }
}
