public import ChatModel

/// What hangs on a feed. Called on the hub's executor, in log order, once per commit that concerns the feed.
public protocol FeedSink: AnyObject, Sendable {
    /// Takes events the feed's selection admits. Must not wait.
    func take(_ events: [Event])
}

/// All subscribers with one selection. Belongs to the hub; lives while it has a sink.
final class Feed {
    let selection: Selection
    var sinks: [any FeedSink] = []
    /// Events of the commit being handed out.
    var pending: [Event] = []

    init(_ selection: Selection) { self.selection = selection }

    func flush() {
        let events = pending
        pending.removeAll(keepingCapacity: true)
        for sink in sinks { sink.take(events) }
    }
}
