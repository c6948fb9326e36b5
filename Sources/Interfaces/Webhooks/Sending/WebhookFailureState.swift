import ChatModel

/// The failures of a webhook since its last success, and how much of that is stored. Performs no I/O.
///
/// Each attempt returns the effects that are not done yet, so that a temporary failure of the store only delays them.
struct WebhookFailureState: Sendable {
    /// After failing this long without a success, the webhook is reported on `$system`. Retries handle shorter
    /// failures.
    static let noticeAge: Duration = .seconds(30 * 60)
    /// After failing this long, the webhook is disabled.
    static let disableAge: Duration = .seconds(5 * 24 * 3600)
    /// A failure stored by an earlier run disables a webhook only after it has also failed this long in this run: the
    /// end of the earlier run may have prevented a recovery from being stored.
    static let confirmationAge: Duration = .seconds(12 * 3600)

    enum Effect: Sendable, Equatable {
        /// Notify the operators of a change and store it for the next start.
        case notify
        case disable(reason: String)
    }

    /// The content of a notice to the operators.
    enum OperatorNotice: Sendable, Equatable {
        case failing(since: Timetoken)
        case recovered
    }

    /// The first failure since the last success; nil while deliveries succeed.
    private(set) var failingSince: Timetoken?
    /// The first failure of this run since then.
    private var seenSince: Timetoken?
    /// `failingSince`, once the failure has lasted long enough for a notice to the operators.
    private(set) var noticedSince: Timetoken?
    /// The stored value of it.
    private var written: WrittenValue<Timetoken?>
    /// Deliveries given up since the last success.
    private var deadOnEnd = 0
    /// The newest failure since the last success; also nil after a restart until an attempt fails again.
    private(set) var lastError: AttemptError?

    /// - Parameter writtenSince: the value stored by an earlier run of the gateway.
    init(writtenSince: Timetoken? = nil) {
        failingSince = writtenSince
        noticedSince = writtenSince
        written = WrittenValue(writtenSince)
    }

    /// True when the webhook works and nothing is left to store.
    var isOver: Bool { failingSince == nil && written.value == nil && !written.isWriting }

    /// - Parameters:
    ///   - dead: deliveries given up with this attempt.
    ///   - deadTolerated: deliveries given up without a success in between before the webhook is disabled.
    ///   - error: the failure of the attempt.
    mutating func recordFailure(
        at now: Timetoken, dead: Int = 0, deadTolerated: Int = .max, error: AttemptError? = nil
    ) -> [Effect] {
        lastError = error
        let (since, seen) = (failingSince ?? now, seenSince ?? now)
        (failingSince, seenSince) = (since, seen)
        deadOnEnd += dead
        if now >= since.adding(Self.noticeAge) { noticedSince = since }
        let isConfirmed = seen == since || now >= seen.adding(Self.confirmationAge)
        let isOut = now >= since.adding(Self.disableAge) && isConfirmed
        if isOut { return undone + [.disable(reason: "failing since \(since.timestamp)")] }
        if deadOnEnd >= deadTolerated {
            return undone + [.disable(reason: "\(deadOnEnd) deliveries in a row were given up")]
        }
        return undone
    }

    mutating func recordSuccess() -> [Effect] {
        (failingSince, seenSince, noticedSince, deadOnEnd, lastError) = (nil, nil, nil, 0, nil)
        return undone
    }

    private var undone: [Effect] { noticedSince != written.value ? [.notify] : [] }

    // MARK: Storing

    /// The notice to store next; `endWriting` must follow. Nil when there is none or a write is under way.
    mutating func beginWriting() -> OperatorNotice? {
        // The end of an earlier failure is reported before the next failure.
        let isNext = written.value == nil || noticedSince == written.value
        guard let since = written.begin(isNext ? noticedSince : nil) else { return nil }
        return since.map { .failing(since: $0) } ?? .recovered
    }

    /// - Parameter notice: the stored notice; nil when it could not be stored.
    mutating func endWriting(_ notice: OperatorNotice?) {
        switch notice {
        case .failing(let since): written.end(.some(since))
        case .recovered: written.end(.some(nil))
        case nil: written.end(nil)
        }
    }
}

/// The error of a failed delivery attempt.
struct AttemptError: Sendable, Equatable {
    /// The time at which the attempt ended.
    let at: Timetoken
    /// The class of the error, as in the delivery's `attempt_log`.
    let error: String
    /// The response's status, if there was a response.
    let status: Int?
}
