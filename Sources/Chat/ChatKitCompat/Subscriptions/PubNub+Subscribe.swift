extension PubNub {
    /// Subscribes to channels and channel groups by name, in addition to the current subscriptions.
    ///
    /// - Parameters:
    ///   - channels: names, and patterns such as `news.*`.
    ///   - timetoken: the position in the event log after which the events start; nil starts with new events.
    ///   - withPresence: true includes presence events.
    public func subscribe(
        to channels: [String], and channelGroups: [String] = [], at timetoken: Timetoken? = nil,
        withPresence: Bool = false
    ) {
        session.subscribe(entities(channels, channelGroups), at: timetoken, presence: withPresence)
    }

    /// Unsubscribes from channels and channel groups.
    public func unsubscribe(from channels: [String], and channelGroups: [String] = []) {
        session.unsubscribe(from: entities(channels, channelGroups))
    }

    /// Unsubscribes from all channels and channel groups.
    public func unsubscribeAll() { session.unsubscribeAll() }

    /// Pauses all subscriptions. ``reconnect(at:)`` continues them.
    public func disconnect() { session.disconnect() }

    /// Continues the subscriptions that ``disconnect()`` has paused.
    ///
    /// - Parameter timetoken: the position in the event log after which the events start; nil continues after the last
    ///   received event.
    public func reconnect(at timetoken: Timetoken? = nil) { session.reconnect(at: timetoken) }

    /// Adds a listener. The client does not retain the listener, so the program must.
    public func add(_ listener: SubscriptionListener) { session.add(listener) }

    /// Adds a listener, which the client retains.
    public func addEventListener(_ listener: EventListener) { session.added.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { session.added.remove(listener) }

    /// Removes all event listeners, but not the client's own closures.
    public func removeAllListeners() { session.added.removeAll() }

    /// Adds a listener for the connection status. The client retains the listener.
    public func addStatusListener(_ listener: StatusListener) { session.add(listener) }

    /// Removes a listener for the connection status.
    public func removeStatusListener(_ listener: StatusListener) { session.remove(listener) }

    /// Removes all listeners for the connection status, but not the client's own closure.
    public func removeAllStatusListeners() { session.removeAllStatusListeners() }

    /// Called on the main queue when the connection opens, is lost or opens again; nil for no closure.
    public var onConnectionStateChange: ((ConnectionStatus) -> Void)? {
        get { session.onConnectionStateChange }
        set { session.onConnectionStateChange = newValue }
    }

    /// The current connection status.
    public var connectionStatus: ConnectionStatus { session.status }

    /// The names of the subscribed channels.
    public var subscribedChannels: [String] { Set(session.active.flatMap(\.channels)).sorted() }

    /// The names of the subscribed channel groups.
    public var subscribedChannelGroups: [String] { Set(session.active.flatMap(\.groups)).sorted() }

    /// The number of subscribed channels and channel groups.
    public var subscriptionCount: Int { subscribedChannels.count + subscribedChannelGroups.count }

    /// The timetoken of the newest received event; nil before the first event.
    public var previousTimetoken: Timetoken? { session.newest }

    /// The filter expression of all current and later subscriptions; nil for no filter. A name in the expression is a
    /// member of the metadata, `data` is the payload, and `uuid` is the sender. A new expression applies to every event
    /// after the last received event.
    public var subscribeFilterExpression: String? {
        get { session.filter }
        set { session.filter = newValue }
    }

    private func entities(_ channels: [String], _ groups: [String]) -> [Subscribable] {
        channels.map { channel($0) } + groups.map { channelGroup($0) }
    }
}
