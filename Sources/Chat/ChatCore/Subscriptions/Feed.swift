public import ChatModel

/// A receiver of the events of a feed. The hub calls the receiver on the hub's executor, in the order of the event log,
/// at most once per iteration. An iteration is a step in which the hub distributes events without suspending.
public protocol FeedSink: AnyObject, Sendable {
    /// The place of the sink in its feed; nil while the sink is not attached. Only the hub uses it, on its executor.
    var feedPlace: FeedPlace? { get set }
    /// Receives events that match the feed's selection. Must not block.
    func receive(_ events: [Event])
}

/// The place of a sink in a feed of the hub.
public struct FeedPlace {
    /// Unowned, because the feed exists while it has sinks.
    unowned let feed: Feed
    let index: Int
}

/// All subscribers with the same selection of events. A feed belongs to the hub, and exists while it has at least one
/// sink.
final class Feed {
    let selection: Selection
    /// The number of the feed in the `FeedIndex`.
    var number: UInt32 = 0
    /// The channels under which the index lists the feed of a user's device; empty for any other feed. The channels
    /// change when the user joins, enters or leaves channels.
    var heard: Set<ExactText> = []
    /// The sink at index 0. Most feeds have one sink, and an array for it would be most of the memory of the feed.
    private var first: (any FeedSink)?
    /// The other sinks, from index 1 on; nil for a free index. Thousands of polls may share one feed and detach at the
    /// same moment, so no sink is searched for, and no sink is moved.
    private var others: [(any FeedSink)?] = []
    /// The free indices of `others`.
    private var free: [Int] = []
    /// The events of the hub's current iteration.
    private var pending: [Event] = []

    init(_ selection: Selection) { self.selection = selection }

    var isEmpty: Bool { first == nil && others.isEmpty }
    var allSinks: [any FeedSink] { ([first] + others).compactMap(\.self) }

    func attach(_ sink: any FeedSink) {
        sink.feedPlace = FeedPlace(feed: self, index: insert(sink))
    }

    private func insert(_ sink: any FeedSink) -> Int {
        if first == nil {
            first = sink
            return 0
        }
        if let index = free.popLast() {
            others[index - 1] = sink
            return index
        }
        others.append(sink)
        return others.count
    }

    /// Removes the sink at an index. The memory is freed when the last of the `others` has left.
    func remove(at index: Int) {
        guard index > 0 else { return first = nil }
        others[index - 1] = nil
        free.append(index)
        if free.count == others.count { (others, free) = ([], []) }
    }

    /// Adds an event that `flush` will send to the sinks. Returns true when the event is the first event of this feed
    /// in the hub's current iteration.
    func add(_ event: Event) -> Bool {
        pending.append(event)
        return pending.count == 1
    }

    func flush() {
        // Replaces the array to free its memory. Otherwise, a hundred thousand feeds would keep one unused array each.
        let events = pending
        pending = []
        first?.receive(events)
        for sink in others { sink?.receive(events) }
    }
}
