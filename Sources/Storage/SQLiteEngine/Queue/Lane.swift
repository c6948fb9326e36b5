import ChatModel
import Locking

/// One row of the queue: an event owed to an endpoint.
struct DeliveryKey: Hashable, Sendable {
    let event: UInt64
    /// The endpoint's number in the tables.
    let subscriber: Int64
}

/// An item as memory knows it.
struct DueItem: Sendable, Comparable {
    let event: UInt64
    let due: UInt64

    static func == (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) == (right.due, right.event) }
    static func < (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) < (right.due, right.event) }
}

/// One endpoint's part of the queue. The earliest due items are in memory, however many there are in the file.
///
/// Safe to share: ``SchedulerState`` alone has lanes, and is used under its lock. A class, as many fields are looked at for each
/// delivery, and reading one of a value in a table copies the value.
final class Lane: @unchecked Sendable, Scheduled {
    /// Items of one endpoint in memory at most, and how many are fetched at a time.
    static let capacity = 4096

    let number: Int64
    let subscriber: SubscriberID
    /// The lanes of its app, which the board keeps.
    unowned let group: LaneGroup
    private(set) var settings: LaneSettings
    /// Nothing is handed out while its items are put into a new order.
    var isReordering: Bool
    /// What slows it down beyond its settings.
    private var paceConcurrency: Int?
    private var notBefore: UInt64 = 0
    private var meter: RateMeter?
    /// Attempts under way: leases out whose outcome nobody has handed in yet.
    var leased = 0
    /// Leases out, those that are being recorded among them: an attempt may have several.
    var leases = 0
    /// Items in the file that are neither delivered nor dead.
    var waiting = 0
    private(set) var items = Heap<DueItem>()
    /// What an attempt needs of items that are fresh from the planner; of others it is read from the file.
    private(set) var facts: [UInt64: PlannedDelivery] = [:]
    /// Items that are only in the file are not due before this; nil: there are none.
    private(set) var beyond: UInt64?
    /// Items are being fetched from the file.
    var isFetching = false
    var agendaDue: UInt64?

    init(_ stored: StoredSubscriber, in group: LaneGroup, waiting: Int = 0) {
        number = stored.number
        self.group = group
        subscriber = stored.subscriber
        settings = stored.settings
        isReordering = stored.reordering != .done
        meter = settings.rate.map { RateMeter(perSecond: $0) }
        self.waiting = waiting
        if waiting > 0 { beyond = 0 }
    }

    var state: LaneState { settings.state }

    /// When something can next be done here; nil: not before something changes.
    var nextDue: UInt64? {
        guard state == .open, !isReordering, !isFetching, leased < min(settings.concurrency, paceConcurrency ?? .max)
        else { return nil }
        guard let due = items.first.map({ min($0.due, beyond ?? .max) }) ?? beyond else { return nil }
        return max(due, notBefore, meter?.next ?? 0)
    }

    /// What to do at `now`.
    enum Step {
        case item(DueItem)
        /// What is due first may be in the file.
        case fetch
        case nothing
    }

    /// The lane's turn has come: takes the next step.
    func grant(now: UInt64) -> Step {
        guard let due = nextDue, due <= now else { return .nothing }
        if let beyond, beyond <= now, items.first.map({ beyond < $0.due }) ?? true {
            isFetching = true
            return .fetch
        }
        guard let item = items.popFirst() else { return .nothing }
        meter?.spend(at: now)
        return .item(item)
    }

    /// Another item for the attempt that has just begun, if one is in memory and due.
    func grantMore(now: UInt64) -> DueItem? {
        guard let first = items.first, first.due <= now, beyond.map({ first.due <= $0 }) ?? true else { return nil }
        return items.popFirst()
    }

    /// An attempt is recorded: the item is due again, waits for others, or is done with.
    func settle(_ event: UInt64, _ ending: DeliveryScheduler.Ending) {
        switch ending {
        case .due(let due): add(DueItem(event: event, due: due))
        case .inLine: break
        case .over: waiting = max(0, waiting - 1)
        }
    }

    func become(_ stored: StoredSubscriber) {
        if stored.settings.rate != settings.rate { meter = stored.settings.rate.map { RateMeter(perSecond: $0) } }
        settings = stored.settings
        isReordering = stored.reordering != .done
    }

    func pace(concurrency: Int?, notBefore: UInt64) {
        paceConcurrency = concurrency
        self.notBefore = notBefore
    }

    func clockWentBack() { meter?.reset() }

    /// Takes in an item, unless memory is full: then the file remembers it, and this is false.
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

    func keep(_ planned: PlannedDelivery) { facts[planned.event.rawValue] = planned }

    func takeFacts(of event: UInt64) -> PlannedDelivery? {
        facts.isEmpty ? nil : facts.removeValue(forKey: event)
    }

    /// Returns what there was.
    func takeAllFacts() -> [PlannedDelivery] {
        defer { facts = [:] }
        return Array(facts.values)
    }

    /// Takes the file's word for everything: the items fetched, and from which due time on there are more.
    func replace(with fetched: [DueItem], beyond: UInt64?) {
        isFetching = false
        items.removeAll()
        for item in fetched { items.push(item) }
        self.beyond = beyond
    }

    /// Forgets what memory held; the file is asked when next needed.
    func forget() {
        items.removeAll()
        beyond = 0
    }
}

/// Lets things begin at a steady rate, after a rest as many at once as one second has (a token bucket, kept as the one time
/// at which it will be full again).
struct RateMeter: Sendable {
    private let interval: Double
    private let tolerance: Double
    private var fullAt: Double = 0

    init(perSecond rate: Double) {
        let second = Double(Timetoken.ticksPerSecond)
        interval = second / rate
        tolerance = max(0, second - interval)
    }

    /// When the next may begin, in ticks; what lies beyond any clock is held at the end of time.
    var next: UInt64 { UInt64(exactly: max(0, fullAt - tolerance).rounded(.up)) ?? .max }

    /// One has begun.
    mutating func spend(at now: UInt64) { fullAt = max(fullAt, Double(now)) + interval }

    /// The clock went back: what was spent lies in the future.
    mutating func reset() { fullAt = 0 }
}
