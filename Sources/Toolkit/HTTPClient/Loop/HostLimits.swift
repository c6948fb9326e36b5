/// Who may start now and who waits: a limit for all, a limit for each host, and fairness between hosts.
///
/// Kept here rather than left to libcurl: its own queue of pending transfers is one for all hosts, so a host that is at
/// its limit stands in the way of the others. Used by the loop thread only.
struct HostLimits<Item: AnyObject> {
    /// What is under way and what waits for one host. An item keeps its lane, which saves a second look-up.
    final class Lane {
        fileprivate let key: String
        fileprivate var active = 0
        fileprivate var waiting = FIFOQueue<Item>()
        fileprivate var isInTurn = false

        fileprivate init(key: String) { self.key = key }
    }

    enum LaneAdmission {
        /// Counted as active; start it.
        case start(Lane)
        /// Queued; ``next()`` hands it out when it may start.
        case wait(Lane)
        /// Too many wait already.
        case refuse
    }

    private let limit: Int
    private let hostLimit: Int
    private let waitingLimit: Int
    private var active = 0
    private var waiting = 0
    private var hostLimits: [String: Lane] = [:]
    /// Lanes that have someone waiting and may have room, each at most once, served in turn.
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
        takeTurn(lane)
        return .wait(lane)
    }

    /// The next item that may start, now counted as active.
    mutating func next() -> (Item, Lane)? {
        while active < limit, let lane = turns.popFirst() {
            lane.isInTurn = false
            guard lane.active < hostLimit, let item = lane.waiting.popFirst() else { continue }
            waiting -= 1
            active += 1
            lane.active += 1
            takeTurn(lane)
            return (item, lane)
        }
        return nil
    }

    /// An active item is done.
    mutating func release(_ lane: Lane) {
        active -= 1
        lane.active -= 1
        takeTurn(lane)
        closeIfUnused(lane)
    }

    /// An item that was waiting gives up.
    mutating func withdraw(_ item: Item, from lane: Lane) {
        guard lane.waiting.remove(where: { $0 === item }) else { return }
        waiting -= 1
        closeIfUnused(lane)
    }

    /// Everyone who waits, in no order.
    var waitingItems: [Item] { hostLimits.values.flatMap { $0.waiting.all } }

    /// Everyone who waits, no longer waiting.
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

    private mutating func takeTurn(_ lane: Lane) {
        guard !lane.isInTurn, !lane.waiting.isEmpty, lane.active < hostLimit else { return }
        lane.isInTurn = true
        turns.append(lane)
    }
}

/// A queue over an array: taking from the front moves an index and now and then the rest.
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

    /// Removes the first element that matches; a walk over all of them.
    mutating func remove(where matches: (Element) -> Bool) -> Bool {
        guard let index = elements.indices.dropFirst(head).first(where: { elements[$0].map(matches) ?? false }) else {
            return false
        }
        elements.remove(at: index)
        return true
    }
}
