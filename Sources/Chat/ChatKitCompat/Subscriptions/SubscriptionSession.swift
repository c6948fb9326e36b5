import ChatKit
import ChatModel
import Dispatch
import Locking

/// The subscriptions of one client, their connection, and the listeners that receive the events of all subscriptions.
final class SubscriptionSession: Sendable {
    private struct Reference: Sendable { weak let subscription: Subscription? }
    private struct ListenerReference: Sendable { weak let listener: CoreListener? }

    private struct State {
        weak var client: PubNub?
        var status = ConnectionStatus.disconnected
        /// The channels and groups that the last `connected` or `subscriptionChanged` status reported.
        var reported: Set<String> = []
        var active: [Reference] = []
        /// The subscriptions that were created from names. The session retains them.
        var named: [Subscription] = []
        /// The subscriptions that ``PubNub/disconnect()`` has paused.
        var paused: [Subscription] = []
        var listeners: [ListenerReference] = []
        var statusListeners: [StatusListener] = []
        var filter: String?
        var recent = RecentEvents()
        var newest: UInt64 = 0
    }

    private let state = Lock(State())
    private let statusClosure = Lock(Handover<((ConnectionStatus) -> Void)?>(nil))
    let added = AddedListeners()

    init(filter: String?) { state.withLock { $0.filter = filter } }

    func follow(_ client: PubNub) { state.withLock { $0.client = client } }

    /// The filter expression as the program set it.
    var filter: String? {
        get { state.withLock { $0.filter } }
        set {
            state.withLock { $0.filter = newValue }
            for subscription in active { subscription.core?.filter = nativeFilter }
        }
    }

    /// The filter expression in the gateway's filter language.
    var nativeFilter: String? { filter.map { FilterTranslation.native($0) } }

    var active: [Subscription] {
        state.withLock { $0.active.compactMap(\.subscription) }.filter(\.isSubscribed)
    }
    var newest: UInt64? { state.withLock { $0.newest == 0 ? nil : $0.newest } }
    var status: ConnectionStatus { state.withLock { $0.status } }

    var onConnectionStateChange: ((ConnectionStatus) -> Void)? {
        get { statusClosure.withLock { $0 }.value }
        set {
            let new = Handover(newValue)
            statusClosure.withLock { $0 = new }
        }
    }

    // MARK: Subscribing

    func begin(_ subscription: Subscription, at timetoken: UInt64?) {
        state.withLock { state in
            state.active = state.active.filter {
                guard let other = $0.subscription else { return false }
                return other !== subscription && other.isSubscribed
            }
            state.active.append(Reference(subscription: subscription))
        }
        let places = subscription.places
        emit([.subscriptionChanged(.subscribed(channels: places.channels, groups: places.groups))])
        guard let core = subscription.core else { return fail(subscription) }
        core.subscribe(with: timetoken.map { ChatModel.Timetoken($0) })
    }

    /// Reports to the listeners that the gateway's address is invalid. The subscription therefore has no connection.
    private func fail(_ subscription: Subscription) {
        let error = PubNubError(
            .invalidArguments, details: ["the `url` of the configuration is not a valid http or https URL"])
        emit([.subscribeError(error)])
        report(.connectionError(error))
    }

    func ended(channels: [String], groups: [String]) {
        func places(_ names: [String]) -> [PubNubChannel] {
            names.map { PubNubChannel(id: $0, isPresenceSubscribed: false) }
        }
        emit([.subscriptionChanged(.unsubscribed(channels: places(channels), groups: places(groups)))])
        let remaining = active
        if remaining.isEmpty { return report(.disconnected) }
        if status.isConnected { change(.connected(hasGap: false)) }
    }

    func subscribe(_ entities: [Subscribable], at timetoken: UInt64?, presence: Bool) {
        for entity in entities {
            let known = state.withLock { $0.named.first { $0.isOf(entity) } }
            if let known, !presence || known.options.hasPresence {
                known.subscribe(with: timetoken)
                continue
            }
            let subscription = Subscription(
                entity: entity, options: presence ? ReceivePresenceEvents() : SubscriptionOptions.empty())
            state.withLock { state in
                state.named.removeAll { $0.isOf(entity) }
                state.named.append(subscription)
            }
            subscription.subscribe(with: timetoken)
            known?.stop()
        }
    }

    func unsubscribe(from entities: [Subscribable]) {
        for entity in entities {
            let ended = active.filter { $0.isOf(entity) }
            state.withLock { $0.named.removeAll { $0.isOf(entity) } }
            for subscription in ended { subscription.unsubscribe() }
        }
    }

    func unsubscribeAll() {
        let ended = active
        state.withLock { ($0.named, $0.paused) = ([], []) }
        for subscription in ended { subscription.unsubscribe() }
    }

    func disconnect() {
        let stopped = active
        for subscription in stopped { subscription.stop() }
        state.withLock { $0.paused = stopped }
        report(.disconnected)
    }

    func reconnect(at timetoken: UInt64?) {
        let (paused, newest) = state.withLock { state in
            defer { state.paused = [] }
            return (state.paused, state.newest)
        }
        for subscription in paused { subscription.subscribe(with: timetoken ?? (newest == 0 ? nil : newest)) }
    }

    /// Ends every subscription. Called when the client is released.
    func end() {
        let ended = active
        state.withLock { ($0.named, $0.paused) = ([], []) }
        for subscription in ended { subscription.stop() }
    }

    // MARK: Listeners

    func add(_ listener: CoreListener) {
        state.withLock { state in
            state.listeners = state.listeners.filter { $0.listener != nil && $0.listener !== listener }
            state.listeners.append(ListenerReference(listener: listener))
        }
    }

    func add(_ listener: StatusListener) {
        state.withLock { state in
            if !state.statusListeners.contains(where: { $0 === listener }) { state.statusListeners.append(listener) }
        }
    }

    func remove(_ listener: StatusListener) {
        state.withLock { state in state.statusListeners.removeAll { $0 === listener } }
    }

    func removeAllStatusListeners() { state.withLock { $0.statusListeners = [] } }

    // MARK: Events

    /// Passes events to the client's own closures and listeners. An event that several subscriptions receive is passed
    /// only once.
    func receive(_ received: [ReceivedEvent]) {
        let positions = received.map(\.position)
        let (client, isNew) = state.withLock { state in
            state.newest = positions.reduce(state.newest) { max($0, $1.timetoken) }
            return (state.client, positions.map { state.recent.insert($0) })
        }
        let events = zip(received, isNew).filter(\.1).map(\.0.event)
        guard !events.isEmpty else { return }
        client.map { $0.closures.emit(events, on: $0.queue) }
        added.emit(events)
        emit(events.map { PubNubCoreEvent($0) })
    }

    private func emit(_ events: [PubNubCoreEvent]) {
        for listener in state.withLock({ $0.listeners.compactMap(\.listener) }) { listener.emit(events) }
    }

    /// Processes a new connection state of one subscription: updates the client's connection status and reports the
    /// status if it has changed.
    func change(_ change: ConnectionState) {
        switch change {
        case .connected:
            let subscriptions = active
            let (channels, groups) = (subscriptions.flatMap(\.channels), subscriptions.flatMap(\.groups))
            let names = Set(channels.map { "c" + $0 } + groups.map { "g" + $0 })
            let status = state.withLock { state -> ConnectionStatus? in
                defer { state.reported = names }
                if !state.status.isConnected { return .connected }
                return state.reported == names ? nil : .subscriptionChanged(channels: channels, groups: groups)
            }
            if let status { report(status) }
        case .reconnecting(let error): report(.disconnectedUnexpectedly(PubNubError(error)))
        case .failed(let error):
            emit([.subscribeError(PubNubError(error))])
            let error = PubNubError(error)
            report(status.isConnected ? .disconnectedUnexpectedly(error) : .connectionError(error))
        case .closed: report(.disconnected)
        }
    }

    private func report(_ status: ConnectionStatus) {
        let listeners = state.withLock { state -> [StatusListener]? in
            let isRepeat = state.status == status
            state.status = status
            return isRepeat ? nil : state.statusListeners
        }
        guard let listeners else { return }
        DispatchQueue.main.async { self.onConnectionStateChange?(status) }
        for listener in listeners { listener.emit(status) }
        emit([.connectionStatusChanged(status)])
    }
}

extension Subscription {
    fileprivate var places: (channels: [PubNubChannel], groups: [PubNubChannel]) {
        func places(_ names: [String]) -> [PubNubChannel] {
            names.map { PubNubChannel(id: $0, isPresenceSubscribed: options.hasPresence) }
        }
        return (places(channels), places(groups))
    }

    fileprivate func isOf(_ entity: Subscribable) -> Bool {
        self.entity.name == entity.name && self.entity.isGroup == entity.isGroup
    }
}

/// The newest events that the client has received, by timetoken and channel. They show whether an event was already
/// received by another subscription.
private struct RecentEvents {
    private static let capacity = 1024

    private var order: [ReceivedEvent.Position] = []
    private var known: Set<ReceivedEvent.Position> = []
    private var next = 0

    /// Adds an event. Returns false when the event was already added.
    mutating func insert(_ position: ReceivedEvent.Position) -> Bool {
        guard known.insert(position).inserted else { return false }
        if order.count < Self.capacity {
            order.append(position)
        } else {
            known.remove(order[next])
            order[next] = position
            next = (next + 1) % Self.capacity
        }
        return true
    }
}
