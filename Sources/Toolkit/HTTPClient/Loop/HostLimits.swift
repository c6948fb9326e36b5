/// Decides which items (the transfers of a client) may start and which must wait. There is a limit for all items and a
/// limit for each host. When an item ends, the next item is taken from the waiting hosts in rotation.
///
/// libcurl's own queue is not used, because a host at its limit would block the transfers to other hosts. Used only on
/// the loop thread.
struct HostLimits<Item: AnyObject> {
    /// The active and waiting items of one host. The caller stores the lane of each item, which saves another lookup.
    final class Lane {
        fileprivate let key: String
        fileprivate var active = 0
        fileprivate var waiting = FIFOQueue<Item>()
        fileprivate var isInTurn = false

        fileprivate init(key: String) { self.key = key }
    }

    enum LaneAdmission {
        /// The item may start and now counts as active.
        case start(Lane)
        /// The item is queued. ``next()`` returns it when it may start.
        case wait(Lane)
        /// The item is rejected, because too many items are waiting.
        case refuse
    }

    private let limit: Int
    private let hostLimit: Int
    private let waitingLimit: Int
    private var active = 0
    private var waiting = 0
    private var hostLimits: [String: Lane] = [:]
    /// The lanes (one for each host) that have waiting items and may be below their limit. The first lane starts the
    /// next item. Each lane occurs at most once.
    private var turns = FIFOQueue<Lane>()

    init(limit: Int, hostLimit: Int, waitingLimit: Int) {
        self.limit = max(limit, 1)
        self.hostLimit = max(hostLimit, 1)
        self.waitingLimit = max(waitingLimit, 0)
    }

    mutating func admit(_ item: Item, to key: String) -> LaneAdmission {
        let lane = hostLimits[key] ?? open(key)
        if active < limit, lane.active < hostLimit, lane.waiting.isEmpty {
            active += 1
            lane.active += 1
            return .start(lane)
        }
        guard waiting < waitingLimit else {
            closeIfUnused(lane)
            return .refuse
        }
        waiting += 1
        lane.waiting.append(item)
        startTurn(lane)
        return .wait(lane)
    }

    /// Returns the next item that may start, with its lane, and counts the item as active; `nil` when no item may
    /// start.
    mutating func next() -> (Item, Lane)? {
        while active < limit, let lane = turns.popFirst() {
            lane.isInTurn = false
            guard lane.active < hostLimit, let item = lane.waiting.popFirst() else { continue }
            waiting -= 1
            active += 1
            lane.active += 1
            startTurn(lane)
            return (item, lane)
        }
        return nil
    }

    /// Records that an active item of the host with this lane has ended.
    mutating func release(_ lane: Lane) {
        active -= 1
        lane.active -= 1
        startTurn(lane)
        closeIfUnused(lane)
    }

    /// Removes a waiting item from the lane of its host.
    mutating func withdraw(_ item: Item, from lane: Lane) {
        guard lane.waiting.remove(where: { $0 === item }) else { return }
        waiting -= 1
        closeIfUnused(lane)
    }

    /// All waiting items, in no particular order.
    var waitingItems: [Item] { hostLimits.values.flatMap { $0.waiting.all } }

    /// Removes and returns all waiting items.
    mutating func drain() -> [Item] {
        var items: [Item] = []
        for lane in hostLimits.values {
            while let item = lane.waiting.popFirst() { items.append(item) }
            closeIfUnused(lane)
        }
        waiting = 0
        return items
    }

    private mutating func open(_ key: String) -> Lane {
        let lane = Lane(key: key)
        hostLimits[key] = lane
        return lane
    }

    private mutating func closeIfUnused(_ lane: Lane) {
        if lane.active == 0, lane.waiting.isEmpty { hostLimits[lane.key] = nil }
    }

    private mutating func startTurn(_ lane: Lane) {
        guard !lane.isInTurn, !lane.waiting.isEmpty, lane.active < hostLimit else { return }
        lane.isInTurn = true
        turns.append(lane)
    }
}

/// A first-in, first-out queue in an array. Removing the first element only advances an index. The array is compacted
/// from time to time.
struct FIFOQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    var all: [Element] { elements[head...].compactMap(\.self) }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count || head >= 64 && head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes the first element that matches, by a linear search. Returns false when there is none.
    mutating func remove(where matches: (Element) -> Bool) -> Bool {
        guard let index = elements.indices.dropFirst(head).first(where: { elements[$0].map(matches) ?? false }) else {
            return false
        }
        elements.remove(at: index)
        return true
    }
}
