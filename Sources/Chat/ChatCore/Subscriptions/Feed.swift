public import ChatModel

/// A receiver of a feed's events. Called on the hub's executor, in log order, at most once per turn of the hub.
public protocol FeedSink: AnyObject, Sendable {
    /// Receives events that match the feed's selection. Must not block.
    func receive(_ events: [Event])
}

/// All subscribers with the same selection. Belongs to the hub, and exists while it has a sink.
final class Feed {
    let selection: Selection
    /// The number of the feed in the index.
    var number: UInt32 = 0
    /// For a device's stream, the channels under which the index lists it. They change with the user's memberships and
    /// entered channels.
    var heard: Set<ExactText> = []
    /// The first sink. Most feeds have no other, and a dictionary for one would be most of the feed's memory.
    private var first: (any FeedSink)?
    /// Further sinks, by identity, because thousands of polls may use one feed and leave it at the same moment.
    private var others: [ObjectIdentifier: any FeedSink] = [:]
    /// The events of the current turn.
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

    /// Adds an event for `flush`. True for the first event of the turn.
    func add(_ event: Event) -> Bool {
        pending.append(event)
        return pending.count == 1
    }

    func flush() {
        // Frees the array: otherwise a hundred thousand feeds with one past event would keep as many arrays.
        let events = pending
        pending = []
        first?.receive(events)
        for sink in others.values { sink.receive(events) }
    }
}
