import ChatModel
import Locking

/// The key of one delivery: the event and the subscriber that receives it.
package struct DeliveryKey: Hashable, Sendable {
    package let event: UInt64
    /// The subscriber's number in the tables of the database.
    package let subscriber: Int64

    package init(event: UInt64, subscriber: Int64) { (self.event, self.subscriber) = (event, subscriber) }
}

/// A waiting delivery in memory: its event and the time at which it is due.
package struct DueItem: Sendable, Comparable {
    package let event: UInt64
    package let due: UInt64

    package init(event: UInt64, due: UInt64) { (self.event, self.due) = (event, due) }

    package static func == (left: DueItem, right: DueItem) -> Bool {
        (left.due, left.event) == (right.due, right.event)
    }
    package static func < (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) < (right.due, right.event) }
}

/// The queue of one subscriber. Only the earliest due deliveries are in memory; the database may contain more.
///
/// Safe to share between threads, because only ``SchedulerState`` uses lanes, under the scheduler's lock. A lane is a
/// class and not a struct, because reading a field of a struct in a dictionary would copy the struct.
final class Lane: @unchecked Sendable, Scheduled {
    /// The maximum number of a subscriber's deliveries in memory, and the number that is read from the database at a
    /// time.
    static let capacity = 4096

    let number: Int64
    let subscriber: SubscriberID
    /// The group of all lanes of the same app. The scheduler owns the group.
    unowned let group: LaneGroup
    private(set) var settings: LaneSettings
    /// True while the deliveries are being reordered. No delivery is leased during that time.
    var isReordering: Bool
    /// The maximum number of concurrent attempts that ``pace(concurrency:notBefore:)`` has set in addition to the limit
    /// of the settings; nil for no additional limit.
    private var paceConcurrency: Int?
    /// The time before which no attempt may begin, in timetoken ticks; 0 for no such time.
    private var notBefore: UInt64 = 0
    private var rateLimit: LanePace?
    /// The number of attempts whose outcome has not been reported yet.
    var attemptsUnderWay = 0
    /// The number of leases, including those whose outcome is being recorded. An attempt may consist of several leases.
    var leaseCount = 0
    /// The number of deliveries in the database that are still waiting or being attempted.
    var unfinished = 0
    private(set) var items = Heap<DueItem>()
    /// The data that attempts need, by event timetoken, for deliveries that the planner has just added. For other
    /// deliveries, the data is read from the database.
    private(set) var planned: [UInt64: PlannedDelivery] = [:]
    /// The earliest possible due time of deliveries that are only in the database; nil when there are none.
    private(set) var beyond: UInt64?
    /// True while deliveries are being read from the database.
    var isFetching = false
    /// True when the lane leases nothing more, because it moves to another node when its last lease has ended.
    var isLeaving = false
    var scheduledDue: UInt64?

    init(_ stored: StoredSubscriber, in group: LaneGroup, unfinished: Int = 0) {
        number = stored.number
        self.group = group
        subscriber = stored.subscriber
        settings = stored.settings
        isReordering = stored.reordering != .done
        rateLimit = settings.rate.map { LanePace(perSecond: $0) }
        self.unfinished = unfinished
        if unfinished > 0 { beyond = 0 }
    }

    var state: LaneState { settings.state }

    /// The time at which the lane's next attempt can begin. Nil when there is no waiting delivery, or when the lane
    /// must change first: for example, it is paused or has the maximum number of attempts in progress.
    var nextDue: UInt64? {
        guard state == .open, !isReordering, !isFetching, !isLeaving,
            attemptsUnderWay < min(settings.concurrency, paceConcurrency ?? .max)
        else { return nil }
        guard let due = items.first.map({ min($0.due, beyond ?? .max) }) ?? beyond else { return nil }
        return max(due, notBefore, rateLimit?.next ?? 0)
    }

    /// True when the lane has no lease, and either no delivery that is due by `moment` or ``isLeaving``.
    func isIdle(until moment: UInt64) -> Bool {
        guard leaseCount == 0, !isFetching, !isReordering else { return false }
        guard !isLeaving else { return true }
        guard state == .open, !settings.isPulled,
            let due = items.first.map({ min($0.due, beyond ?? .max) }) ?? beyond
        else { return true }
        return max(due, rateLimit?.next ?? 0) > moment
    }

    /// The next step of a lane (a subscriber's queue).
    enum Step {
        case item(DueItem)
        /// Deliveries must be read from the database first, because the earliest one may be only there.
        case fetch
        case nothing
    }

    /// Returns the lane's next step at the time `now`, and updates the lane for this step.
    func grant(now: UInt64) -> Step {
        guard let due = nextDue, due <= now else { return .nothing }
        if let beyond, beyond <= now, items.first.map({ beyond < $0.due }) ?? true {
            isFetching = true
            return .fetch
        }
        guard let item = items.popFirst() else { return .nothing }
        rateLimit?.spend(at: now)
        return .item(item)
    }

    /// Removes and returns another due delivery for the attempt that has just begun; nil when there is none in memory.
    func grantMore(now: UInt64) -> DueItem? {
        guard let first = items.first, first.due <= now, beyond.map({ first.due <= $0 }) ?? true else { return nil }
        return items.popFirst()
    }

    /// Updates the lane after an attempt of a delivery is recorded. `ending` is the new state of the delivery: due
    /// again, waiting for an earlier delivery, or finished.
    func complete(_ event: UInt64, _ ending: DeliveryScheduler.Ending) {
        switch ending {
        case .due(let due): add(DueItem(event: event, due: due))
        case .inLine: break
        case .over: unfinished = max(0, unfinished - 1)
        }
    }

    func update(_ stored: StoredSubscriber) {
        if stored.settings.rate != settings.rate { rateLimit = stored.settings.rate.map { LanePace(perSecond: $0) } }
        settings = stored.settings
        isReordering = stored.reordering != .done
    }

    func pace(concurrency: Int?, notBefore: UInt64) {
        paceConcurrency = concurrency
        self.notBefore = notBefore
    }

    /// True if the sender slows the lane down.
    var isPaced: Bool { paceConcurrency != nil || notBefore > 0 }

    func clockWentBack() { rateLimit?.reset() }

    /// Adds a delivery. Returns false if the delivery is not added and will be read from the database later. This is
    /// the case when the lane's memory is full, or when deliveries that are only in the database are due earlier.
    @discardableResult
    func add(_ item: DueItem) -> Bool {
        let isBehindFile = beyond.map { item.due >= $0 } ?? false
        guard items.count < Self.capacity, !isBehindFile else {
            beyond = min(beyond ?? .max, item.due)
            return false
        }
        items.push(item)
        return true
    }

    func keep(_ item: PlannedDelivery) { planned[item.event.rawValue] = item }

    func removePlanned(of event: UInt64) -> PlannedDelivery? {
        planned.isEmpty ? nil : planned.removeValue(forKey: event)
    }

    /// Removes and returns the data of all deliveries that the planner has just added (``planned``).
    func removeAllPlanned() -> [PlannedDelivery] {
        defer { planned = [:] }
        return Array(planned.values)
    }

    /// Replaces the deliveries in memory with deliveries that were read from the database.
    ///
    /// - Parameter beyond: the due time from which the database contains further deliveries; nil when there are none.
    func replace(with fetched: [DueItem], beyond: UInt64?) {
        isFetching = false
        items.removeAll()
        for item in fetched { items.push(item) }
        self.beyond = beyond
    }

    /// Discards the deliveries in memory. They are read from the database when they are next needed.
    func forget() {
        items.removeAll()
        beyond = 0
    }
}

/// The rate limit of the attempts of a lane (a subscriber's queue). After a pause, it allows a burst as large as the
/// attempts of one second.
struct LanePace: Sendable {
    private let rate: GenericCellRate
    private var fullAt: UInt64 = 0

    /// Creates a rate limit that no attempt has used yet.
    ///
    /// - Parameter rate: the maximum number of attempts per second; must be positive.
    init(perSecond rate: Double) {
        // The minimum prevents an overflow in the computation of times. It is lower than any rate in practice.
        let rate = max(rate, 0.000_001)
        self.rate = GenericCellRate(window: 1_000_000_000, cost: UInt64((1_000_000_000 / rate).rounded()))
    }

    /// The time at which the next attempt may begin, in ticks.
    var next: UInt64 { (rate.next(fullAt: fullAt) + 99) / 100 }

    /// Counts one attempt that begins at `now`, in ticks.
    mutating func spend(at now: UInt64) { fullAt = rate.spent(fullAt: fullAt, at: now &* 100) }

    /// Forgets earlier attempts. Used after the clock was set back, because the recorded attempts would then lie in the
    /// future.
    mutating func reset() { fullAt = 0 }
}
