import ChatModel

/// How an endpoint has been doing since its last success, and how much of it is written down; performs nothing itself.
///
/// What follows from it is asked for by each attempt until it is done, so that a store that fails at one moment costs a
/// delay. Only endpoints that fail, or of which something is still to be written, have one.
struct WebhookFailureState: Sendable {
    /// Failing this long without a success is told on `$system`. Shorter troubles are what retries are for.
    static let noticeAge: Duration = .seconds(30 * 60)
    /// Failing this long disables the webhook (`product.md` 6).
    static let disableAge: Duration = .seconds(5 * 24 * 3600)
    /// What an earlier run has written disables a webhook only after it has failed this long before our eyes as well: the
    /// end of the earlier run may have kept a recovery from being written.
    static let confirmationAge: Duration = .seconds(12 * 3600)

    enum Effect: Sendable, Equatable {
        /// The operators are to be told what they do not know, and it is to be remembered over a restart.
        case tell
        case disable(reason: String)
    }

    /// What the operators are told.
    enum OperatorNotice: Sendable, Equatable {
        case failing(since: Timetoken)
        case recovered
    }

    private var failingSince: Timetoken?
    /// The first failure of this run since then.
    private var seenSince: Timetoken?
    /// `failingSince`, once it has lasted long enough to be told.
    private(set) var noticedSince: Timetoken?
    /// What is written down of it.
    private var writtenSince: Timetoken?
    /// One write at a time: two could reach the directory in the other order.
    private var isWriting = false
    /// Deliveries given up since the last success.
    private var deadOnEnd = 0
    /// The newest failure since the last success; nil also after a restart, until an attempt fails again.
    private(set) var lastError: AttemptError?

    /// - Parameter writtenSince: by an earlier run of the gateway.
    init(writtenSince: Timetoken? = nil) {
        failingSince = writtenSince
        noticedSince = writtenSince
        self.writtenSince = writtenSince
    }

    /// Well, and nothing is left to be done about it.
    var isOver: Bool { failingSince == nil && writtenSince == nil && !isWriting }

    /// - Parameters:
    ///   - dead: deliveries given up with this attempt.
    ///   - deadTolerated: given up on end, without a success, before the webhook is disabled.
    ///   - error: what the attempt failed with.
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
            return undone + [.disable(reason: "\(deadOnEnd) deliveries on end were given up")]
        }
        return undone
    }

    mutating func recordSuccess() -> [Effect] {
        (failingSince, seenSince, noticedSince, deadOnEnd, lastError) = (nil, nil, nil, 0, nil)
        return undone
    }

    private var undone: [Effect] { noticedSince != writtenSince ? [.tell] : [] }

    // MARK: What was done

    /// What to write next; `endWriting` follows. Nil when there is nothing or somebody is at it.
    mutating func beginWriting() -> OperatorNotice? {
        guard !isWriting, noticedSince != writtenSince else { return nil }
        isWriting = true
        // An earlier trouble's end comes before the next one.
        guard writtenSince == nil, let noticedSince else { return .recovered }
        return .failing(since: noticedSince)
    }

    /// - Parameter news: nil when it could not be written.
    mutating func endWriting(_ news: OperatorNotice?) {
        isWriting = false
        switch news {
        case .failing(let since): writtenSince = since
        case .recovered: writtenSince = nil
        case nil: break
        }
    }
}

/// The error of a failed delivery attempt.
struct AttemptError: Sendable, Equatable {
    /// When the attempt ended.
    let at: Timetoken
    /// The class of the error, as in the delivery's `attempt_log`.
    let error: String
    /// The receiver's answer, if there was one.
    let status: Int?
}
