public import ChatModel
public import Dispatch
import Locking

/// A subscription to the events of channels, channel patterns and channel groups.
///
/// A subscription is a sequence:
/// ```swift
/// for await event in chat.subscription(channels: ["orders.*"]) { print(event.type) }
/// ```
/// A subscription can also call closures, in the order of the events:
/// ```swift
/// let subscription = chat.subscription(channels: ["room.1"])
/// subscription.onMessage = { print($0.payload) }
/// subscription.subscribe()
/// ```
/// The sequence and the closures may be used at the same time. Releasing the subscription unsubscribes it.
public final class Subscription: EventEmitter, AsyncSequence {
    /// An event as the subscription receives it.
    public typealias Element = LiveEvent
    /// The sequence never throws; ``onError`` reports errors.
    public typealias Failure = Never

    private struct State {
        var selection: EventSelection
        var listener: AutoCloseable?
        /// The number of the current listener. Listeners with a lower number were replaced and deliver nothing.
        var generation = 0
        /// The position in the event log up to which the closures have received the events; nil before the first
        /// connection.
        var position: Timetoken?
    }

    public let handlers: EventHandlers
    let chat: Chat
    private let queue: DispatchQueue?
    private let state: Lock<State>
    /// The closures of the sets and listeners that also receive the events. The sets and listeners are not retained.
    private let followers = Lock<[Follower]>([])
    private let patterns: [(text: String, pattern: NamePattern)]

    private struct Follower: Sendable { weak let handlers: EventHandlers? }

    init(_ chat: Chat, _ selection: EventSelection, queue: DispatchQueue? = nil) {
        self.chat = chat
        self.queue = queue
        handlers = EventHandlers(queue: queue.map { DispatchQueue(label: "parley.subscription", target: $0) })
        patterns = selection.channels.compactMap { text in
            NamePattern(text).map { (text, $0) }
        }
        state = Lock(State(selection: selection))
    }

    deinit { state.withLock { $0.listener }?.close() }

    var selection: EventSelection { state.withLock { $0.selection } }

    /// True between ``subscribe(with:)`` and ``unsubscribe()``, while the closures are called. False after an error has
    /// ended the subscription.
    public var isSubscribed: Bool { state.withLock { $0.listener.map { !$0.isOver } ?? false } }

    /// Creates an iterator, which starts to connect. It returns the events after the position `since` that was passed
    /// when the subscription was created; when `since` was nil, it returns new events.
    public func makeAsyncIterator() -> ChatStream<LiveEvent>.Iterator {
        let transform: ChatStream<LiveEvent>.Transform = { [patterns, selection] event in
            [Self.matched(event, patterns, selection)]
        }
        return ChatStream(chat: chat, selection: selection, transform: transform).makeAsyncIterator()
    }

    /// Starts to connect and to call the closures. Does nothing when already subscribed.
    ///
    /// - Parameter timetoken: the position after which to start; nil starts with new events. A timetoken without 17
    ///   digits is ignored, because it is a time in another unit.
    public func subscribe(with timetoken: Timetoken? = nil) {
        let selection = state.withLock { state -> EventSelection? in
            guard state.listener.map(\.isOver) ?? true else { return nil }
            state.position = nil
            var selection = state.selection
            selection.since = timetoken?.ifComplete ?? selection.since
            begin(&state, selection)
            return selection
        }
        guard let selection else { return }
        chat.subscriptions.add(self)
        deliver(.change(.subscribed(channels: selection.channels, groups: selection.groups)))
    }

    /// Stops calling the closures. Iterators of this subscription continue.
    public func unsubscribe() {
        let (ended, selection) = state.withLock { state in
            state.generation += 1
            defer { state.listener = nil }
            return (state.listener, state.selection)
        }
        chat.subscriptions.remove(self)
        guard let ended else { return }
        ended.close()
        deliver(.change(.unsubscribed(channels: selection.channels, groups: selection.groups)))
    }

    /// Waits for the connection. After this call has returned, the closures are called for every new event. Returns
    /// immediately when `subscribe` was not called.
    ///
    /// - Parameter limit: the maximum time to wait. After that, the subscription still continues to connect.
    /// - Throws: the error that prevents the connection; `.unavailable` when `limit` has passed; `.gone` when the
    ///   subscription has ended or the task is cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        try await state.withLock { $0.listener }?.ready(within: limit)
    }

    /// The filter, an expression in the filter language; nil for none. A new filter applies to all events after the
    /// last event that the closures received.
    public var filter: String? {
        get { selection.filter }
        set {
            let replaced = state.withLock { state -> AutoCloseable? in
                guard state.selection.filter != newValue else { return nil }
                state.selection.filter = newValue
                guard let listener = state.listener, !listener.isOver else { return nil }
                var selection = state.selection
                selection.since = state.position ?? selection.since
                begin(&state, selection)
                return listener
            }
            replaced?.close()
        }
    }

    /// True when presence events are included.
    public var hasPresence: Bool {
        get { selection.hasPresence }
        set { state.withLock { $0.selection.hasPresence = newValue } }
    }

    /// Returns a subscription to the same channels without closures. If this subscription is subscribed, the clone
    /// subscribes to new events.
    public func clone() -> Subscription {
        let clone = Subscription(chat, selection, queue: queue)
        if isSubscribed { clone.subscribe() }
        return clone
    }

    /// Adds a listener, whose closures are called after the closures of the subscription. The subscription does not
    /// retain the listener.
    public func add(_ listener: SubscriptionListener) { follow(listener.handlers) }

    /// Removes a listener.
    public func remove(_ listener: SubscriptionListener) { stop(listener.handlers) }
}

// MARK: - Events

extension Subscription {
    func follow(_ follower: EventHandlers) {
        followers.withLock { followers in
            followers = followers.filter { $0.handlers != nil && $0.handlers !== follower }
            followers.append(Follower(handlers: follower))
        }
    }

    func stop(_ follower: EventHandlers) { followers.withLock { $0.removeAll { $0.handlers === follower } } }

    private var receivers: [EventHandlers] { [handlers] + followers.withLock { $0.compactMap(\.handlers) } }

    private func deliver(_ report: ListenerReport) { for receiver in receivers { receiver.deliver(report) } }

    private func begin(_ state: inout State, _ selection: EventSelection) {
        state.generation += 1
        let generation = state.generation
        let listener = Listener(chat, selection) { [weak self] report in self?.handle(report, generation) }
        state.listener = AutoCloseable(listener) { [weak self] in
            while let batch = await listener.events() {
                if Task.isCancelled { return }
                await self?.deliver(batch, generation)
            }
        }
    }

    private func handle(_ report: ListenerReport, _ generation: Int) {
        let isCurrent = state.withLock { state in
            guard state.generation == generation else { return false }
            if case .connected(let position, _) = report {
                state.position = Swift.max(state.position ?? .zero, position)
            }
            return true
        }
        if isCurrent { deliver(report) }
    }

    private func deliver(_ batch: [LiveEvent], _ generation: Int) async {
        let selection = selection
        let events = batch.filter { selection.hasPresence || !$0.event.isPresence }
            .map { SubscriptionEvent(Self.matched($0, patterns, selection), chat) }
        guard !events.isEmpty else { return }
        let isWanted: @Sendable () -> Bool = { [weak self] in self?.isCurrent(generation) ?? false }
        for receiver in receivers { await receiver.deliver(events, while: isWanted) }
        for event in events {
            guard advance(to: event.event.timetoken, generation) else { return }
            for receiver in receivers { await receiver.deliver(event, while: isWanted) }
        }
    }

    private func isCurrent(_ generation: Int) -> Bool { state.withLock { $0.generation == generation } }

    /// Moves the position of the subscription forward to an event, before the closures are called for this event.
    ///
    /// - Parameters:
    ///   - timetoken: the timetoken of the event.
    ///   - generation: the number of the listener that received the event.
    /// - Returns: true when the position was set; false when another listener has replaced this listener.
    private func advance(to timetoken: Timetoken, _ generation: Int) -> Bool {
        state.withLock { state in
            guard state.generation == generation else { return false }
            state.position = Swift.max(state.position ?? .zero, timetoken)
            return true
        }
    }

    /// Returns the event with its property `subscription` set to the channel pattern or channel group that selected the
    /// event. The property stays nil when the subscription names the event's channel.
    private static func matched(
        _ event: LiveEvent, _ patterns: [(text: String, pattern: NamePattern)], _ selection: EventSelection
    ) -> LiveEvent {
        let name = event.channel.name
        guard !selection.channels.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return event }
        var event = event
        event.subscription =
            patterns.first { $0.pattern.matches(name) }?.text
            ?? (selection.groups.count == 1 ? selection.groups[0] : nil)
        return event
    }
}

extension Timetoken {
    /// The timetoken if it has 17 digits; otherwise nil.
    fileprivate var ifComplete: Timetoken? { Timetoken(exactly: "\(rawValue)").flatMap { $0 == .zero ? nil : $0 } }
}

extension Chat {
    /// Returns a subscription to channels (names and patterns such as `a.*`) and channel groups. When both are empty,
    /// the subscription receives all events that the user may read.
    ///
    /// - Parameters:
    ///   - queue: the queue on which the closures are called, one at a time; nil for no particular queue.
    ///   - presence: true includes presence events.
    ///   - filter: an expression in the filter language, such as `data.amount > 100`; nil for none.
    ///   - include: the objects to include with each event (``LiveEvent/included``).
    ///   - since: the position after which to start; nil starts with new events.
    public func subscription(
        queue: DispatchQueue? = nil, channels: [String] = [], groups: [String] = [], presence: Bool = false,
        filter: String? = nil, include: Set<IncludedObject> = [], since: Timetoken? = nil
    ) -> Subscription {
        var selection = EventSelection(channels: channels)
        selection.groups = groups
        selection.hasPresence = presence
        selection.filter = filter
        selection.include = include
        selection.since = since
        return Subscription(self, selection, queue: queue)
    }

    /// Unsubscribes every subscription of this chat, and closes the listeners of all `on…` methods. Delegates,
    /// sequences and ``onConnectionStateChange(_:)`` continue.
    public func unsubscribeAll() {
        for subscription in subscriptions.all { subscription.unsubscribe() }
        for listener in subscriptions.listeners { listener.close() }
        channelSubscriptions.clear()
    }
}

/// The active subscriptions and `on…` listeners of a chat. This object does not retain them, because a subscription or
/// listener ends when the program releases it.
final class ActiveSubscriptions: Sendable {
    private struct Reference: Sendable { weak let subscription: Subscription? }
    private struct ListenerReference: Sendable { weak let listener: AutoCloseable? }

    private let begun = Lock<[ObjectIdentifier: Reference]>([:])
    private let open = Lock<[ListenerReference]>([])

    func add(_ subscription: Subscription) {
        begun.withLock { begun in
            begun = begun.filter { $0.value.subscription != nil }
            begun[ObjectIdentifier(subscription)] = Reference(subscription: subscription)
        }
    }

    func remove(_ subscription: Subscription) { begun.withLock { $0[ObjectIdentifier(subscription)] = nil } }

    func add(_ listener: AutoCloseable) {
        open.withLock { open in
            open = open.filter { $0.listener?.isOver == false }
            open.append(ListenerReference(listener: listener))
        }
    }

    var all: [Subscription] { begun.withLock { $0.values.compactMap(\.subscription) } }
    var listeners: [AutoCloseable] { open.withLock { $0.compactMap(\.listener) } }
}
