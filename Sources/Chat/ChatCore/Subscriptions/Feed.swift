public import ChatModel

/// What hangs on a feed. Called on the hub's executor, in log order, at most once per turn of the hub.
public protocol FeedSink: AnyObject, Sendable {
    /// Takes events the feed's selection admits. Must not wait.
    func take(_ events: [Event])
}

/// All subscribers with one selection. Belongs to the hub; lives while it has a sink.
final class Feed {
    let selection: Selection
    /// What the index knows it by.
    var number: UInt32 = 0
    /// For a device's stream, the channels on which the index finds it; they change with where its user stands.
    var heard: Set<ExactText> = []
    /// The first to come. Of many feeds there is no other, and a table for one would be most of what a feed takes.
    private var first: (any FeedSink)?
    /// By identity, because thousands of polls may hang on one feed and leave it in the same moment.
    private var others: [ObjectIdentifier: any FeedSink] = [:]
    /// Events of the running turn.
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

    /// Keeps an event for `flush`; true for the first one of the turn.
    func add(_ event: Event) -> Bool {
        pending.append(event)
        return pending.count == 1
    }

    func flush() {
        // Its memory goes: a hundred thousand feeds that had an event once would keep as many arrays.
        let events = pending
        pending = []
        first?.take(events)
        for sink in others.values { sink.take(events) }
    }
}
