public import ChatModel

/// What hangs on a feed. Called on the hub's executor, in log order, at most once per turn of the hub.
public protocol FeedSink: AnyObject, Sendable {
    /// Takes events the feed's selection admits. Must not wait.
    func take(_ events: [Event])
}

/// All subscribers with one selection. Belongs to the hub; lives while it has a sink.
final class Feed {
    let selection: Selection
    /// By identity, because thousands of polls may hang on one feed and leave it in the same moment.
    private var sinks: [ObjectIdentifier: any FeedSink] = [:]
    /// Events of the running turn.
    private var pending: [Event] = []

    init(_ selection: Selection) { self.selection = selection }

    var isEmpty: Bool { sinks.isEmpty }
    var allSinks: some Collection<any FeedSink> { sinks.values }

    func attach(_ sink: any FeedSink) { sinks[ObjectIdentifier(sink)] = sink }
    func detach(_ sink: any FeedSink) { sinks[ObjectIdentifier(sink)] = nil }

    /// Keeps an event for `flush`; true for the first one of the turn.
    func add(_ event: Event) -> Bool {
        pending.append(event)
        return pending.count == 1
    }

    func flush() {
        for sink in sinks.values { sink.take(pending) }
        pending.removeAll(keepingCapacity: true)
    }
}
