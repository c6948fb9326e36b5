import ChatModel

/// One row of the queue: an event owed to an endpoint.
struct DeliveryKey: Hashable, Sendable {
    let event: UInt64
    /// The endpoint's number in the tables.
    let endpoint: Int64
}

/// An item as memory knows it.
struct DueItem: Sendable, Comparable {
    let event: UInt64
    let due: UInt64

    static func == (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) == (right.due, right.event) }
    static func < (left: DueItem, right: DueItem) -> Bool { (left.due, left.event) < (right.due, right.event) }
}

/// One endpoint's part of the queue. The earliest due items are in memory, however many there are in the file.
struct Lane: Sendable {
    /// Items of one endpoint in memory at most, and how many are fetched at a time.
    static let capacity = 4096

    let endpoint: EndpointID
    var state: LaneState
    var concurrency: Int
    /// Attempts under way: leases out whose outcome nobody has handed in yet.
    var leased = 0
    /// Items in the file that are neither delivered nor dead.
    var waiting = 0
    private(set) var items = Heap<DueItem>()
    /// What an attempt needs of items that are fresh from the planner; of others it is read from the file.
    private(set) var facts: [UInt64: PlannedDelivery] = [:]
    /// Items that are only in the file are not due before this; nil: there are none.
    private(set) var beyond: UInt64?
    /// Items are being fetched from the file.
    var isFetching = false
    /// The due time with which the lane stands in the agenda; nil: it does not.
    var agendaDue: UInt64?

    init(endpoint: EndpointID, state: LaneState, concurrency: Int, waiting: Int = 0) {
        self.endpoint = endpoint
        self.state = state
        self.concurrency = concurrency
        self.waiting = waiting
        if waiting > 0 { beyond = 0 }
    }

    /// When something can next be done here; nil: not before something changes.
    var nextDue: UInt64? {
        guard state == .open, leased < concurrency, !isFetching else { return nil }
        guard let first = items.first?.due else { return beyond }
        return beyond.map { min($0, first) } ?? first
    }

    /// What to do at `now`.
    enum Step {
        case item(DueItem)
        /// What is due first may be in the file.
        case fetch
        case nothing
    }

    /// The lane's turn in the agenda has come: takes the next step.
    mutating func grant(now: UInt64) -> Step {
        agendaDue = nil
        return next(now: now)
    }

    /// An attempt is recorded: the item is due again, or done with.
    mutating func settle(_ event: UInt64, retryAt due: UInt64?) {
        if let due {
            add(DueItem(event: event, due: due))
        } else {
            waiting = max(0, waiting - 1)
        }
    }

    mutating func become(_ state: LaneState, concurrency: Int) {
        self.state = state
        self.concurrency = concurrency
    }

    private mutating func next(now: UInt64) -> Step {
        guard let due = nextDue, due <= now else { return .nothing }
        if let beyond, beyond <= now, items.first.map({ beyond < $0.due }) ?? true {
            isFetching = true
            return .fetch
        }
        return items.popFirst().map { .item($0) } ?? .nothing
    }

    /// Takes in an item, unless memory is full: then the file remembers it, and this is false.
    @discardableResult
    mutating func add(_ item: DueItem) -> Bool {
        let isBehindFile = beyond.map { item.due >= $0 } ?? false
        guard items.count < Self.capacity, !isBehindFile else {
            beyond = min(beyond ?? .max, item.due)
            return false
        }
        items.push(item)
        return true
    }

    mutating func keep(_ planned: PlannedDelivery) { facts[planned.event.rawValue] = planned }

    mutating func takeFacts(of event: UInt64) -> PlannedDelivery? {
        facts.isEmpty ? nil : facts.removeValue(forKey: event)
    }

    /// Returns what there was.
    mutating func takeAllFacts() -> [PlannedDelivery] {
        defer { facts = [:] }
        return Array(facts.values)
    }

    /// Takes the file's word for everything: the items fetched, and whether there are more.
    mutating func replace(with fetched: [DueItem], isComplete: Bool) {
        isFetching = false
        items.removeAll()
        for item in fetched { items.push(item) }
        beyond = isComplete ? nil : fetched.last?.due
    }

    /// Forgets what memory held; the file is asked when next needed.
    mutating func forget() {
        items.removeAll()
        beyond = 0
    }
}
