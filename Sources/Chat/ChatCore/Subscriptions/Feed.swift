public import ChatModel

/// A receiver of the events of a feed. The hub calls the receiver on the hub's executor, in the order of the event log,
/// at most once per iteration. An iteration is a step in which the hub distributes events without suspending.
public protocol FeedSink: AnyObject, Sendable {
    /// Receives events that match the feed's selection. Must not block.
    func receive(_ events: [Event])
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
    /// The first sink. Most feeds have one sink, and a dictionary for it would be most of the memory of the feed.
    private var first: (any FeedSink)?
    /// The other sinks, by identity. A dictionary, because thousands of polls may share one feed and detach at the same
    /// moment.
    private var others: [ObjectIdentifier: any FeedSink] = [:]
    /// The events of the hub's current iteration.
    private var pending: [Event] = []

    init(_ selection: Selection) { self.selection = selection }

    var isEmpty: Bool { first == nil && others.isEmpty }
    var allSinks: [any FeedSink] { (first.map { [$0] } ?? []) + others.values }

    func attach(_ sink: any FeedSink) {
        if first == nil, others[ObjectIdentifier(sink)] == nil { first = sink }
        if first !== sink { others[ObjectIdentifier(sink)] = sink }
    }

    func detach(_ sink: any FeedSink) {
        if first === sink { first = nil } else { others[ObjectIdentifier(sink)] = nil }
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
        for sink in others.values { sink.receive(events) }
    }
}
