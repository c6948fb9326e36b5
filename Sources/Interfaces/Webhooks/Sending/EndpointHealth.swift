import ChatModel

/// How an endpoint has been doing since its last success; performs nothing itself.
///
/// Only endpoints that fail have one.
struct EndpointHealth: Sendable {
    /// Failing this long without a success is told on `$system`. Shorter troubles are what retries are for.
    static let noticeAge: Duration = .seconds(30 * 60)
    /// Failing this long disables the webhook (`product.md` 6).
    static let disableAge: Duration = .seconds(5 * 24 * 3600)
    /// Slow answers on end after which an endpoint gets one attempt at a time.
    static let slowAnswersTolerated = 3

    enum Effect: Sendable, Equatable {
        /// Tell the operators, and remember it over a restart.
        case reportFailing(since: Timetoken)
        case disable(reason: String)
        case reportRecovered
        /// The endpoint's concurrency is to be set anew.
        case changePace
    }

    private(set) var failingSince: Timetoken?
    private var isReported = false
    private var slowAnswers = 0

    /// - Parameter reportedSince: from an earlier run of the gateway.
    init(reportedSince: Timetoken? = nil) {
        failingSince = reportedSince
        isReported = reportedSince != nil
    }

    var isSlow: Bool { slowAnswers >= Self.slowAnswersTolerated }
    /// Shown to its owner from the moment the operators were told.
    var reportedSince: Timetoken? { isReported ? failingSince : nil }

    mutating func recordFailure(at now: Timetoken, isSlow: Bool) -> [Effect] {
        var effects: [Effect] = []
        let since = failingSince ?? now
        failingSince = since
        if isSlow {
            slowAnswers += 1
            if slowAnswers == Self.slowAnswersTolerated { effects.append(.changePace) }
        }
        if !isReported, now >= since.adding(Self.noticeAge) {
            isReported = true
            effects.append(.reportFailing(since: since))
        }
        if now >= since.adding(Self.disableAge) {
            effects.append(.disable(reason: "failing since \(since.timestamp)"))
        }
        return effects
    }

    /// The last call: the endpoint is well.
    func recordSuccess() -> [Effect] {
        (isSlow ? [.changePace] : []) + (isReported ? [.reportRecovered] : [])
    }
}
