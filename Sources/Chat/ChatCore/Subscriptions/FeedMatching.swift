import ChatModel

/// The matching of one event against feeds. Many filters may take longer than a turn of the hub, so the results so far
/// are kept for the next turn.
struct FeedMatching {
    /// The number of filters, or of filter steps, between two readings of the clock.
    private enum FilterBudget {
        static let filters = 16
        static let steps = 64 * 1024
    }

    let subject: FilterSubject
    let event: Event

    /// The results of filters in the order of evaluation, and by feed after an interruption. The feeds are retained, so
    /// that no new feed gets the identity of a released one meanwhile.
    private var checkedFeeds: [(feed: Feed, holds: Bool)] = []
    private var verdicts: [ObjectIdentifier: Bool] = [:]
    private var deadline: ContinuousClock.Instant?
    private var filters = 0
    private var steps = 0
    /// True when the deadline passed before every filter was tried.
    private(set) var isLate = false

    init(_ event: Event) {
        self.event = event
        subject = FilterSubject(event)
    }

    /// Begins a turn.
    ///
    /// - Parameter deadline: the time after which no filter but the first is tried; nil tries all.
    mutating func begin(until deadline: ContinuousClock.Instant?) {
        for (feed, holds) in checkedFeeds[verdicts.count...] { verdicts[ObjectIdentifier(feed)] = holds }
        self.deadline = deadline
        isLate = false
        (filters, steps) = (0, subject.spent)
    }

    /// True when a feed of the event's channel matches the event. The result has no meaning once the turn is late.
    mutating func isWanted(by feed: Feed) -> Bool {
        guard !isLate else { return false }
        guard feed.selection.filter != nil else { return feed.selection.admitsBesideChannel(subject) }
        if !verdicts.isEmpty, let known = verdicts[ObjectIdentifier(feed)] { return known }
        guard !isOver else {
            isLate = true
            return false
        }
        let holds = feed.selection.admitsBesideChannel(subject)
        checkedFeeds.append((feed, holds))
        filters += 1
        return holds
    }

    /// True when the deadline has passed. The clock is read occasionally, and never before the first filter of a turn.
    private var isOver: Bool {
        mutating get {
            guard let deadline, filters > 0,
                filters % FilterBudget.filters == 0 || subject.spent - steps >= FilterBudget.steps
            else { return false }
            steps = subject.spent
            return ContinuousClock.now >= deadline
        }
    }
}
