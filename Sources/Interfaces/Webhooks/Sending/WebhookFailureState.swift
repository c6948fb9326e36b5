import ChatModel

/// The failures of a webhook since its last success, and the part of them that is stored. Performs no I/O.
///
/// Recording an attempt returns the actions for the caller to perform (``Effect``), such as reporting the failures to
/// the operators. An action that has failed is returned again when the next attempt is recorded, so a temporary failure
/// of the store only delays it.
struct WebhookFailureState: Sendable {
    /// The minimum duration of failures before the webhook is reported on `$system`. Retries handle shorter failures.
    static let noticeAge: Duration = .seconds(30 * 60)
    /// The minimum duration of failures before the webhook is disabled.
    static let disableAge: Duration = .seconds(5 * 24 * 3600)
    /// The minimum duration of failures in the current run of the gateway before the webhook is disabled. Applies only
    /// if the stored start of the failures is from an earlier run. That start may be out of date, because the earlier
    /// run may have ended before it could store that the webhook recovered.
    static let confirmationAge: Duration = .seconds(12 * 3600)

    enum Effect: Sendable, Equatable {
        /// Reports a change to the operators, and stores the change for the next start.
        case notify
        case disable(reason: String)
    }

    /// The change that is reported to the operators.
    enum OperatorNotice: Sendable, Equatable {
        case failing(since: Timetoken)
        case recovered
    }

    /// The time of the first failure since the last success; nil while deliveries succeed.
    private(set) var failingSince: Timetoken?
    /// The time of the first failure in this run of the gateway since the last success; nil when there was none.
    private var seenSince: Timetoken?
    /// The value of `failingSince` once the failures have lasted for `noticeAge`; nil before.
    private(set) var noticedSince: Timetoken?
    /// The stored value of `noticedSince`.
    private var written: WrittenValue<Timetoken?>
    /// The number of deliveries that have become dead since the last success.
    private var deadOnEnd = 0
    /// The newest failure since the last success. Nil after a restart until an attempt fails.
    private(set) var lastError: AttemptError?

    /// Creates the state at the start of the gateway.
    ///
    /// - Parameter writtenSince: the start of the webhook's failures, as an earlier run of the gateway has stored it;
    ///   nil when none is stored.
    init(writtenSince: Timetoken? = nil) {
        failingSince = writtenSince
        noticedSince = writtenSince
        written = WrittenValue(writtenSince)
    }

    /// True when the webhook works and nothing is left to store.
    var isOver: Bool { failingSince == nil && written.value == nil && !written.isWriting }

    /// Records a failed attempt. Returns the actions for the caller to perform.
    ///
    /// - Parameters:
    ///   - dead: the number of deliveries that became dead with this attempt.
    ///   - deadTolerated: the webhook is disabled when this number of deliveries has become dead without a success in
    ///     between.
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
            return undone + [.disable(reason: "\(deadOnEnd) consecutive deliveries became dead")]
        }
        return undone
    }

    mutating func recordSuccess() -> [Effect] {
        (failingSince, seenSince, noticedSince, deadOnEnd, lastError) = (nil, nil, nil, 0, nil)
        return undone
    }

    /// Takes over a change that another node has stored.
    ///
    /// - Parameter since: the stored start of the failures; nil when the webhook has recovered.
    mutating func follow(_ since: Timetoken?) {
        guard !written.isWriting, written.value != since else { return }
        guard let since else { return self = WebhookFailureState() }
        (failingSince, noticedSince, written) = (min(failingSince ?? since, since), since, WrittenValue(since))
    }

    /// Takes note of a success on another node, after which this node's failures begin anew.
    mutating func follow(successAt success: Timetoken, now: Timetoken) {
        guard let since = failingSince, since < success else { return }
        (failingSince, seenSince, noticedSince, deadOnEnd) = (now, now, written.value, 0)
    }

    private var undone: [Effect] { noticedSince != written.value ? [.notify] : [] }

    // MARK: Storing

    /// Begins to store the next change, and returns it. `endWriting` must follow. Returns nil when there is no change,
    /// or another write is in progress.
    mutating func beginWriting() -> OperatorNotice? {
        // The end of a stored failure is reported before the next failure.
        let isNext = written.value == nil || noticedSince == written.value
        guard let since = written.begin(isNext ? noticedSince : nil) else { return nil }
        return since.map { .failing(since: $0) } ?? .recovered
    }

    /// Ends the write that `beginWriting` began.
    ///
    /// - Parameter notice: the change that was stored; nil when it could not be stored.
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
    /// The status of the response; nil if there was no response.
    let status: Int?
}
