import ChatModel

/// How an endpoint has been doing since its last success, and how much of it is written down; performs nothing itself.
///
/// What follows from it is asked for by each attempt until it is done, so that a store that fails at one moment costs a
/// delay. Only endpoints that fail, or of which something is still to be written, have one.
struct EndpointHealth: Sendable {
    /// Failing this long without a success is told on `$system`. Shorter troubles are what retries are for.
    static let noticeAge: Duration = .seconds(30 * 60)
    /// Failing this long disables the webhook (`product.md` 6).
    static let disableAge: Duration = .seconds(5 * 24 * 3600)
    /// What an earlier run has written disables a webhook only after it has failed this long before our eyes as well: the
    /// end of the earlier run may have kept a recovery from being written.
    static let confirmationAge: Duration = .seconds(12 * 3600)
    /// Slow answers on end after which an endpoint gets one attempt at a time.
    static let slowAnswersTolerated = 3

    enum Effect: Sendable, Equatable {
        /// The operators are to be told what they do not know, and it is to be remembered over a restart.
        case tell
        case disable(reason: String)
        /// The endpoint's concurrency is to be set anew.
        case changePace
    }

    /// What the operators are told.
    enum News: Sendable, Equatable {
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
    private var slowAnswers = 0
    private var isPaced = false

    /// - Parameter writtenSince: by an earlier run of the gateway.
    init(writtenSince: Timetoken? = nil) {
        failingSince = writtenSince
        noticedSince = writtenSince
        self.writtenSince = writtenSince
    }

    var isSlow: Bool { slowAnswers >= Self.slowAnswersTolerated }
    /// Well, and nothing is left to be done about it.
    var isOver: Bool {
        failingSince == nil && writtenSince == nil && !isWriting && !isPaced
    }

    mutating func recordFailure(at now: Timetoken, isSlow: Bool) -> [Effect] {
        let (since, seen) = (failingSince ?? now, seenSince ?? now)
        (failingSince, seenSince) = (since, seen)
        if isSlow { slowAnswers += 1 }
        if now >= since.adding(Self.noticeAge) { noticedSince = since }
        let isConfirmed = seen == since || now >= seen.adding(Self.confirmationAge)
        let isOut = now >= since.adding(Self.disableAge) && isConfirmed
        return undone + (isOut ? [.disable(reason: "failing since \(since.timestamp)")] : [])
    }

    mutating func recordSuccess() -> [Effect] {
        (failingSince, seenSince, noticedSince, slowAnswers) = (nil, nil, nil, 0)
        return undone
    }

    private var undone: [Effect] {
        (isSlow != isPaced ? [.changePace] : []) + (noticedSince != writtenSince ? [.tell] : [])
    }

    // MARK: What was done

    mutating func notePace(isSlow: Bool) { isPaced = isSlow }

    /// What to write next; `endWriting` follows. Nil when there is nothing or somebody is at it.
    mutating func beginWriting() -> News? {
        guard !isWriting, noticedSince != writtenSince else { return nil }
        isWriting = true
        // An earlier trouble's end comes before the next one.
        guard writtenSince == nil, let noticedSince else { return .recovered }
        return .failing(since: noticedSince)
    }

    /// - Parameter news: nil when it could not be written.
    mutating func endWriting(_ news: News?) {
        isWriting = false
        switch news {
        case .failing(let since): writtenSince = since
        case .recovered: writtenSince = nil
        case nil: break
        }
    }
}
