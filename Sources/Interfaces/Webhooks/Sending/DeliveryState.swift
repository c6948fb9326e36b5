import ChatModel
import HTTPClient

/// The decision about the next state of a delivery after an attempt. Performs no I/O.
enum DeliveryState {
    enum AttemptEvent: Sendable {
        /// The header of the response arrived in time, even if the body failed.
        case answered(status: Int, retryAfter: Duration?)
        /// No response arrived.
        case failed(OutboundFailure.Reason)
    }

    enum Next: Sendable, Equatable {
        case delivered
        case retry(after: Duration)
        case dead(reason: DeadReason)
    }

    struct Decision: Sendable, Equatable {
        var next: Next
        /// The class of the error; nil on success.
        var errorClass: String?
        /// True when the receiver responded with 410, so it is gone permanently.
        var disablesWebhook = false
        /// True when the receiver is overloaded or did not respond in time.
        var isSlow = false
        /// The availability of the receiver, regardless of whether it accepted this event.
        var receiver = Receiver.present
    }

    /// The availability of the receiver, as shown by an attempt.
    enum Receiver: Sendable, Equatable {
        /// The receiver works, even if it rejected this event.
        case present
        /// The receiver is not available. The connection failed, or the response shows that the receiver is not at this
        /// URL, rejects the credentials, or cannot process requests now. The next delivery would fail in the same way.
        case absent(retryAfter: Duration?)
        /// The attempt failed on the gateway's side, so the state of the receiver is unknown.
        case unknown
    }

    /// Decides the next state after an attempt.
    ///
    /// - Parameters:
    ///   - number: the number of the attempt, from 1.
    ///   - table: the schedule of retries.
    ///   - draw: a random number in 0..<1, which varies the time of the next attempt. Evaluated only if the attempt
    ///     failed.
    static func decision(
        after event: AttemptEvent, attempt number: Int, table: RetryTable, draw: @autoclosure () -> Double
    ) -> Decision {
        func next(_ retryAfter: Duration?) -> Next {
            guard let delay = table.delay(afterAttempt: number, draw: draw()) else {
                return .dead(reason: .attemptsExhausted)
            }
            // The next attempt is never earlier than the schedule, even if the receiver requests an earlier retry.
            return .retry(after: max(delay, min(retryAfter ?? .zero, RetryTable.longestRetryAfter)))
        }
        switch event {
        case .answered(200..<300, _):
            return Decision(next: .delivered, errorClass: nil)
        case .answered(410, _):
            // The delivery waits while the webhook is disabled, and is sent again when its owner enables the webhook.
            return Decision(next: next(nil), errorClass: "http_status", disablesWebhook: true)
        case .answered(300..<400, let retryAfter):
            return Decision(
                next: next(retryAfter), errorClass: "redirect", receiver: .absent(retryAfter: retryAfter))
        case .answered(let status, let retryAfter):
            return Decision(
                next: next(retryAfter), errorClass: "http_status",
                isSlow: [429, 502, 503, 504].contains(status),
                receiver: isAbsence(status) ? .absent(retryAfter: retryAfter) : .present)
        case .failed(let reason):
            return Decision(
                next: next(nil), errorClass: reason.rawValue,
                isSlow: reason == .timeout || reason == .connectTimeout,
                receiver: reason.isOurs ? .unknown : .absent(retryAfter: nil))
        }
    }

    /// Returns true for a status that does not depend on the event: the receiver would respond with it to every event.
    /// Other 4xx statuses may depend on the content of the post.
    private static func isAbsence(_ status: Int) -> Bool {
        status >= 500 || [401, 403, 404, 405, 407, 429].contains(status)
    }
}

extension OutboundFailure.Reason {
    /// True when the failure occurred on the gateway's side and says nothing about the receiver.
    fileprivate var isOurs: Bool { [.cancelled, .requestInvalid, .overloaded, .blockedAddress].contains(self) }
}

/// The schedule of retries. The default follows the example in the Standard Webhooks specification.
struct RetryTable: Sendable {
    /// The delays after the first, second, … failed attempt. If the attempt after the last delay fails too, the
    /// delivery becomes dead.
    let delays: [Duration]
    /// The share of a delay by which the delay is randomly lengthened or shortened. A receiver that recovers therefore
    /// does not get all deliveries at the same moment.
    let spread: Double

    static let standard = RetryTable(
        delays: [
            .seconds(5), .seconds(5 * 60), .seconds(30 * 60), .seconds(2 * 3600), .seconds(5 * 3600),
            .seconds(10 * 3600), .seconds(14 * 3600), .seconds(20 * 3600), .seconds(24 * 3600),
        ], spread: 0.2)

    /// The maximum delay that a receiver may request.
    static let longestRetryAfter: Duration = .seconds(24 * 3600)

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of attempts made, from 1.
    ///   - draw: a random number in 0..<1, which varies the delay.
    /// - Returns: nil when the schedule has no further attempt.
    func delay(afterAttempt attempt: Int, draw: Double) -> Duration? {
        guard delays.indices.contains(attempt - 1) else { return nil }
        return delays[attempt - 1] * (1 - spread + 2 * spread * draw)
    }

    /// Returns this table with the delays for the given number of attempts. Extra delays are removed. Missing delays
    /// repeat the last delay.
    func limited(toAttempts attempts: Int) -> RetryTable {
        let wanted = max(attempts - 1, 0)
        let more = max(wanted - delays.count, 0)
        let last = delays.last ?? .seconds(24 * 3600)
        return RetryTable(delays: delays.prefix(wanted) + Array(repeating: last, count: more), spread: spread)
    }
}
