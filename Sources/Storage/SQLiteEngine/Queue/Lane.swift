import ChatModel
import Locking

/// The key of one row of the queue: an event to deliver to a subscriber.
struct DeliveryKey: Hashable, Sendable {
    let event: UInt64
    /// The subscriber's number in the tables.
    let subscriber: Int64
}

/// A waiting delivery as kept in memory.
struct DueItem: Sendable, Comparable {
    let event: UInt64
    let due: UInt64

    static func == (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) == (right.due, right.event) }
    static func < (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) < (right.due, right.event) }
}

/// The queue of one subscriber. The earliest due items are in memory, however many there are in the file.
///
/// Safe to share because only ``SchedulerState`` has lanes, and uses them under its lock. It is a class because each
/// delivery reads many fields, and reading a field of a struct in a dictionary copies the struct.
final class Lane: @unchecked Sendable, Scheduled {
    /// The maximum number of one subscriber's items in memory, and the number fetched at a time.
    static let capacity = 4096

    let number: Int64
    let subscriber: SubscriberID
    /// The lanes of the same app. The scheduler owns the group.
    unowned let group: LaneGroup
    private(set) var settings: LaneSettings
    /// Nothing is granted while the items are being reordered.
    var isReordering: Bool
    /// Limits that a caller set in addition to the settings.
    private var paceConcurrency: Int?
    private var notBefore: UInt64 = 0
    private var rateLimit: LanePace?
    /// Attempts under way: leases whose outcome has not been reported yet.
    var attemptsUnderWay = 0
    /// All leases, including those whose outcome is being recorded. An attempt may have several.
    var leaseCount = 0
    /// The number of items in the file that are neither delivered nor dead.
    var unfinished = 0
    private(set) var items = Heap<DueItem>()
    /// The data that an attempt needs, for items that come directly from the planner. For other items it is read from
    /// the file.
    private(set) var planned: [UInt64: PlannedDelivery] = [:]
    /// The earliest possible due time of items that are only in the file; nil when there are none.
    private(set) var beyond: UInt64?
    /// True while items are being fetched from the file.
    var isFetching = false
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

    /// The time of the lane's next possible step; nil when something else must change first.
    var nextDue: UInt64? {
        guard state == .open, !isReordering, !isFetching,
            attemptsUnderWay < min(settings.concurrency, paceConcurrency ?? .max)
        else { return nil }
        guard let due = items.first.map({ min($0.due, beyond ?? .max) }) ?? beyond else { return nil }
        return max(due, notBefore, rateLimit?.next ?? 0)
    }

    /// The step to take now.
    enum Step {
        case item(DueItem)
        /// The earliest due item may be in the file only.
        case fetch
        case nothing
    }

    /// Returns the next step and updates the lane for it.
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

    /// Removes another due item for the attempt that has just begun; nil when memory holds none.
    func grantMore(now: UInt64) -> DueItem? {
        guard let first = items.first, first.due <= now, beyond.map({ first.due <= $0 }) ?? true else { return nil }
        return items.popFirst()
    }

    /// Updates the lane after an attempt is recorded: the item is due again, waits for others of its chain, or is
    /// finished.
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

    func clockWentBack() { rateLimit?.reset() }

    /// Adds an item. Returns false when memory is full or the item belongs behind items that are only in the file; then
    /// it is read from the file later.
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

    /// Removes and returns all kept data.
    func removeAllPlanned() -> [PlannedDelivery] {
        defer { planned = [:] }
        return Array(planned.values)
    }

    /// Replaces the items with those read from the file.
    ///
    /// - Parameter beyond: the due time from which the file has more; nil when it has none.
    func replace(with fetched: [DueItem], beyond: UInt64?) {
        isFetching = false
        items.removeAll()
        for item in fetched { items.push(item) }
        self.beyond = beyond
    }

    /// Discards the items in memory; they are read from the file when next needed.
    func forget() {
        items.removeAll()
        beyond = 0
    }
}

/// The rate limit of a lane's attempts. After a pause it permits a burst of one second's worth.
struct LanePace: Sendable {
    private let rate: GenericCellRate
    private var fullAt: UInt64 = 0

    /// - Parameter rate: attempts per second; positive.
    init(perSecond rate: Double) {
        // A rate so small that nobody sets it, so that no time overflows.
        let rate = max(rate, 0.000_001)
        self.rate = GenericCellRate(window: 1_000_000_000, cost: UInt64((1_000_000_000 / rate).rounded()))
    }

    /// The time at which the next attempt may begin, in ticks.
    var next: UInt64 { (rate.next(fullAt: fullAt) + 99) / 100 }

    /// Counts one attempt at a time in ticks.
    mutating func spend(at now: UInt64) { fullAt = rate.spent(fullAt: fullAt, at: now &* 100) }

    /// Refills the bucket after the clock went back, when the recorded use lies in the future.
    mutating func reset() { fullAt = 0 }
}
