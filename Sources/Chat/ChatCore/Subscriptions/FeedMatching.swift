import ChatModel

/// One event while the feeds that want it are found. Many filters may take longer than a turn of the hub: what some have said
/// is kept until the others have been tried.
struct FeedMatching {
    /// Filters tried, or steps spent, before the clock is looked at.
    private enum FilterBudget {
        static let filters = 16
        static let steps = 64 * 1024
    }

    let subject: FilterSubject
    let event: Event

    /// The verdicts of filters in the order they were asked, and by their feeds once that was interrupted. The feeds are held,
    /// so that no other comes to have their identity meanwhile.
    private var said: [(feed: Feed, holds: Bool)] = []
    private var verdicts: [ObjectIdentifier: Bool] = [:]
    private var deadline: ContinuousClock.Instant?
    private var filters = 0
    private var steps = 0
    /// Whether the time was over before every feed had been asked.
    private(set) var isLate = false

    init(_ event: Event) {
        self.event = event
        subject = FilterSubject(event)
    }

    /// Begins a turn.
    ///
    /// - Parameter deadline: after which no filter is tried but the first; nil tries all.
    mutating func begin(until deadline: ContinuousClock.Instant?) {
        for (feed, holds) in said[verdicts.count...] { verdicts[ObjectIdentifier(feed)] = holds }
        self.deadline = deadline
        isLate = false
        (filters, steps) = (0, subject.spent)
    }

    /// Whether a feed of the event's channel wants the event; once the turn is late the answer means nothing.
    mutating func isWanted(by feed: Feed) -> Bool {
        guard !isLate else { return false }
        guard feed.selection.filter != nil else { return feed.selection.admitsBesideChannel(subject) }
        if !verdicts.isEmpty, let known = verdicts[ObjectIdentifier(feed)] { return known }
        guard !isOver else {
            isLate = true
            return false
        }
        let holds = feed.selection.admitsBesideChannel(subject)
        said.append((feed, holds))
        filters += 1
        return holds
    }

    /// Whether the time is over; looked at now and then, and never before the first filter of a turn.
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
