import ChatModel
import Locking

/// The matching of one event against feeds. Evaluating many filters may take longer than one iteration of the hub, so
/// the results are stored for the next iteration.
struct FeedMatching {
    /// The number of evaluated filters, or of filter steps, after which the clock is read again.
    private enum FilterBudget {
        static let filters = 16
        static let steps = 64 * 1024
    }

    let subject: FilterSubject
    let event: Event

    /// The feeds whose filters were evaluated, with the results, in the order of evaluation. The feeds are retained, so
    /// that a new feed cannot get the identity of a released feed. At the start of each iteration, these results are
    /// copied to `verdicts`, where they can be looked up by feed.
    private var checkedFeeds: [(feed: Feed, holds: Bool)] = []
    private var verdicts: [ObjectIdentifier: Bool] = [:]
    private var deadline: MonotonicTime?
    private var filters = 0
    private var steps = 0
    /// True when the deadline passed before all filters were evaluated.
    private(set) var isLate = false

    init(_ event: Event) {
        self.event = event
        subject = FilterSubject(event)
    }

    /// Begins an iteration of the hub.
    ///
    /// - Parameter deadline: the time after which no more filters are evaluated; nil to evaluate all filters. At least
    ///   one filter is evaluated in each iteration.
    mutating func begin(until deadline: MonotonicTime?) {
        for (feed, holds) in checkedFeeds[verdicts.count...] { verdicts[ObjectIdentifier(feed)] = holds }
        self.deadline = deadline
        isLate = false
        (filters, steps) = (0, subject.spent)
    }

    /// Returns true when a feed that is listed under the event's channel matches the event. When `isLate` is true, the
    /// result is false although the feed may match the event.
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

    /// True when the deadline has passed. The clock is read only after a number of filters or filter steps, and never
    /// before the first filter of an iteration.
    private var isOver: Bool {
        mutating get {
            guard let deadline, filters > 0,
                filters % FilterBudget.filters == 0 || subject.spent - steps >= FilterBudget.steps
            else { return false }
            steps = subject.spent
            return MonotonicTime.now >= deadline
        }
    }
}
