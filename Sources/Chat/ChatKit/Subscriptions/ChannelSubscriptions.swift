public import ChatModel
import Locking

// The subscription calls of the library's older generation. They subscribe the chat itself to channels.

/// The chat's own subscriptions: one for each channel and each group that was passed to
/// ``Chat/subscribe(to:and:at:withPresence:filterOverride:)``.
final class ChannelSubscriptions: Sendable {
    private struct State {
        var channels: [String: Subscription] = [:]
        var groups: [String: Subscription] = [:]
        var listeners: [Reference] = []
        var filter: String?
    }

    private struct Reference: Sendable { weak let listener: SubscriptionListener? }

    private let state = Lock(State())

    func add(_ listener: SubscriptionListener) {
        let subscriptions = state.withLock { state in
            state.listeners = state.listeners.filter { $0.listener != nil && $0.listener !== listener }
            state.listeners.append(Reference(listener: listener))
            return Array(state.channels.values) + Array(state.groups.values)
        }
        for subscription in subscriptions { subscription.add(listener) }
    }

    func subscribe(
        _ chat: Chat, to channels: [String], and groups: [String], at position: Timetoken?, presence: Bool,
        filter: String?
    ) {
        let (new, changed) = state.withLock { state -> ([Subscription], [Subscription]) in
            var (new, changed): ([Subscription], [Subscription]) = ([], [])
            func enter(_ name: String, _ known: inout [String: Subscription], _ make: () -> Subscription) {
                if let subscription = known[name] {
                    if presence { subscription.hasPresence = true }
                    return
                }
                let subscription = make()
                for listener in state.listeners.compactMap(\.listener) { subscription.add(listener) }
                known[name] = subscription
                new.append(subscription)
            }
            if let filter, filter != state.filter {
                state.filter = filter
                changed = Array(state.channels.values) + Array(state.groups.values)
            }
            let filter = state.filter
            var (ownChannels, ownGroups) = (state.channels, state.groups)
            for name in channels {
                enter(name, &ownChannels) {
                    chat.subscription(channels: [name], presence: presence, filter: filter)
                }
            }
            for name in groups {
                enter(name, &ownGroups) { chat.subscription(groups: [name], presence: presence, filter: filter) }
            }
            (state.channels, state.groups) = (ownChannels, ownGroups)
            return (new, changed)
        }
        for subscription in changed { subscription.filter = filter }
        for subscription in new { subscription.subscribe(with: position) }
    }

    func unsubscribe(from channels: [String], and groups: [String], presenceOnly: Bool) {
        let named = state.withLock { state in
            let named = channels.compactMap { state.channels[$0] } + groups.compactMap { state.groups[$0] }
            if !presenceOnly {
                for name in channels { state.channels[name] = nil }
                for name in groups { state.groups[name] = nil }
            }
            return named
        }
        for subscription in named {
            if presenceOnly { subscription.hasPresence = false } else { subscription.unsubscribe() }
        }
    }

    /// Forgets all subscriptions. Called after the subscriptions have ended.
    func clear() { state.withLock { ($0.channels, $0.groups) = ([:], [:]) } }

    var all: [Subscription] { state.withLock { Array($0.channels.values) + Array($0.groups.values) } }
}

extension Chat {
    /// Adds a listener to the subscriptions of ``subscribe(to:and:at:withPresence:filterOverride:)``. The chat does not
    /// retain the listener.
    @available(*, deprecated, message: "use the closures of a Subscription or SubscriptionSet")
    public func add(_ listener: SubscriptionListener) { channelSubscriptions.add(listener) }

    /// Subscribes to channels and channel groups, in addition to earlier channels and groups.
    ///
    /// - Parameters:
    ///   - timetoken: the position after which the events of the new channels start; nil starts with new events.
    ///   - withPresence: true includes presence events.
    ///   - filterOverride: the new filter for all channels and groups of this method, including those of earlier calls;
    ///     nil keeps the current filter.
    @available(*, deprecated, message: "use Channel.subscription() or Chat.subscription(channels:)")
    public func subscribe(
        to channels: [String], and groups: [String] = [], at timetoken: Timetoken? = nil, withPresence: Bool = false,
        filterOverride: String? = nil
    ) {
        channelSubscriptions.subscribe(
            self, to: channels, and: groups, at: timetoken, presence: withPresence, filter: filterOverride)
    }

    /// Unsubscribes from channels and channel groups of ``subscribe(to:and:at:withPresence:filterOverride:)``.
    ///
    /// - Parameter presenceOnly: true ends only the presence events of these channels and groups.
    @available(*, deprecated, message: "use Subscription.unsubscribe()")
    public func unsubscribe(from channels: [String], and groups: [String] = [], presenceOnly: Bool = false) {
        channelSubscriptions.unsubscribe(from: channels, and: groups, presenceOnly: presenceOnly)
    }

    /// Waits until the channels of ``subscribe(to:and:at:withPresence:filterOverride:)`` are connected; see
    /// ``Subscription/ready(within:)``.
    ///
    /// - Throws: the error that prevents one of the connections; `.unavailable` when `limit` has passed.
    @available(*, deprecated, message: "use Subscription.ready(within:)")
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let end = ContinuousClock.now + limit
        for subscription in channelSubscriptions.all {
            try await subscription.ready(within: max(.zero, end - .now))
        }
    }
}
