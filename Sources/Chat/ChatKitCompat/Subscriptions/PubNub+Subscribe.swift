extension PubNub {
    /// Subscribes to channels and channel groups by name, in addition to those that are subscribed already.
    ///
    /// - Parameters:
    ///   - channels: names, and patterns such as `news.*`.
    ///   - timetoken: the position behind which the new channels start; nil starts with new events.
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

    /// Unsubscribes from everything.
    public func unsubscribeAll() { session.unsubscribeAll() }

    /// Stops receiving events. ``reconnect(at:)`` continues.
    public func disconnect() { session.disconnect() }

    /// Receives the events of the stopped subscriptions again.
    ///
    /// - Parameter timetoken: the position behind which to start; nil continues behind the last event.
    public func reconnect(at timetoken: Timetoken? = nil) { session.reconnect(at: timetoken) }

    /// Adds a listener. It is not retained: keep it for as long as it is to be called.
    public func add(_ listener: SubscriptionListener) { session.add(listener) }

    /// Adds a listener, which is retained.
    public func addEventListener(_ listener: EventListener) { session.added.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { session.added.remove(listener) }

    /// Removes all event listeners. The client's own closures stay.
    public func removeAllListeners() { session.added.removeAll() }

    /// Adds a listener of the connection, which is retained.
    public func addStatusListener(_ listener: StatusListener) { session.add(listener) }

    /// Removes a listener of the connection.
    public func removeStatusListener(_ listener: StatusListener) { session.remove(listener) }

    /// Removes all listeners of the connection. The client's own closure stays.
    public func removeAllStatusListeners() { session.removeAllStatusListeners() }

    /// Called on the main queue when the connection is made, lost or made again.
    public var onConnectionStateChange: ((ConnectionStatus) -> Void)? {
        get { session.onConnectionStateChange }
        set { session.onConnectionStateChange = newValue }
    }

    /// The state of the connection.
    public var connectionStatus: ConnectionStatus { session.status }

    /// The names of the subscribed channels.
    public var subscribedChannels: [String] { Set(session.active.flatMap(\.channels)).sorted() }

    /// The names of the subscribed channel groups.
    public var subscribedChannelGroups: [String] { Set(session.active.flatMap(\.groups)).sorted() }

    /// The number of subscribed channels and groups.
    public var subscriptionCount: Int { subscribedChannels.count + subscribedChannelGroups.count }

    /// The timetoken of the newest event that was received; nil before the first one.
    public var previousTimetoken: Timetoken? { session.newest }

    /// The filter of all subscriptions, now and later: a name is a member of the metadata, `data` is the payload, and
    /// `uuid` the sender. A new filter applies to every event behind the last one that was received.
    public var subscribeFilterExpression: String? {
        get { session.filter }
        set { session.filter = newValue }
    }

    private func entities(_ channels: [String], _ groups: [String]) -> [Subscribable] {
        channels.map { channel($0) } + groups.map { channelGroup($0) }
    }
}
