import ChatModel
import Locking

/// Receives changes of the number of messages that the chat's user has not read.
public protocol UserEventDelegate: AnyObject, Sendable {
    /// The number of unread messages changed.
    ///
    /// - Parameter totalCountByCustomType: the counts by the custom type of the channels. Channels without a custom
    ///   type count only in `total`.
    func didUpdateTotalUnreadMessageCount(_ total: Int, totalCountByCustomType: [String: Int])
}

extension UserEventDelegate {
    public func didUpdateTotalUnreadMessageCount(_ total: Int, totalCountByCustomType: [String: Int]) {}
}

/// Receives changes of the connection for live events.
public protocol ConnectionDelegate: AnyObject, Sendable {
    /// The connection was lost. The chat tries to reconnect.
    func didStartReconnection()
    /// The chat reconnected.
    func didSucceedReconnection()
    /// The chat cannot reconnect.
    func didFailReconnection()
    /// The chat was closed while it tried to reconnect.
    func didCancelReconnection()
}

extension ConnectionDelegate {
    public func didStartReconnection() {}
    public func didSucceedReconnection() {}
    public func didFailReconnection() {}
    public func didCancelReconnection() {}
}

extension Chat {
    /// Adds a delegate that receives new events in the user's channels. An existing delegate with the same identifier
    /// is replaced, without losing an event. Other delegates are not affected.
    ///
    /// - Returns: the listener of this identifier. Its `ready()` waits for the connection. The caller need not retain
    ///   it.
    @discardableResult
    public func addChannelDelegate(_ delegate: any ChannelDelegate, identifier: String) -> AutoCloseable {
        delegates.add(delegate, as: "channel", identifier) { slot in
            delegateEvents(of: ["*", BuiltInTypes.channelActivity]).listen(endsWithSubscriptions: false) {
                [chat = self] event in
                if let delegate = slot.delegate as? any ChannelDelegate {
                    await DelegateEvent(chat, event).notify(delegate)
                }
            }
        }
    }

    /// The events for the user's device, with the objects that delegate calls need. All delegates share one stream.
    private func delegateEvents(of types: [String]) -> ChatStream<LiveEvent> {
        var selection = EventSelection(types: types)
        selection.isDevice = true
        selection.include = [.user, .channel]
        return ChatStream(chat: self, selection: selection, transform: { [$0] })
    }

    /// Removes a channel delegate.
    public func removeChannelDelegate(forIdentifier identifier: String) { delegates.remove("channel", identifier) }

    /// Adds a delegate that receives changes of the user's number of unread messages. An existing delegate with the
    /// same identifier is replaced.
    @discardableResult
    public func addUserEventDelegate(_ delegate: any UserEventDelegate, identifier: String) -> AutoCloseable {
        delegates.add(delegate, as: "user", identifier) { slot in
            delegateEvents(of: ["unread_count.updated"]).listen(endsWithSubscriptions: false) { event in
                let data = AnyJSON(event.data)
                (slot.delegate as? any UserEventDelegate)?.didUpdateTotalUnreadMessageCount(
                    data.count("unread_count"), totalCountByCustomType: data.counts("by_custom_type"))
            }
        }
    }

    /// Removes a user event delegate.
    public func removeUserEventDelegate(forIdentifier identifier: String) { delegates.remove("user", identifier) }

    /// Adds a delegate that receives changes of the connection. An existing delegate with the same identifier is
    /// replaced.
    @discardableResult
    public func addConnectionDelegate(_ delegate: any ConnectionDelegate, identifier: String) -> AutoCloseable {
        let isBroken = Lock(false)
        return delegates.add(delegate, as: "connection", identifier) { slot in
            onConnectionStateChange { state in
                let delegate = slot.delegate as? any ConnectionDelegate
                let wasBroken = isBroken.withLock { isBroken in
                    defer { if case .reconnecting = state { isBroken = true } else { isBroken = false } }
                    return isBroken
                }
                switch state {
                case .reconnecting: if !wasBroken { delegate?.didStartReconnection() }
                case .connected: if wasBroken { delegate?.didSucceedReconnection() }
                case .failed: if wasBroken { delegate?.didFailReconnection() }
                case .closed: if wasBroken { delegate?.didCancelReconnection() }
                }
            }
        }
    }

    /// Removes a connection delegate.
    public func removeConnectionDelegate(forIdentifier identifier: String) {
        delegates.remove("connection", identifier)
    }
}

/// A weak reference to a delegate, which can be replaced by another delegate.
final class DelegateSlot: Sendable {
    private struct Reference: Sendable { weak let delegate: (any AnyObject & Sendable)? }

    private let reference: Lock<Reference>

    init(_ delegate: any AnyObject & Sendable) { reference = Lock(Reference(delegate: delegate)) }

    var delegate: (any AnyObject & Sendable)? { reference.withLock { $0.delegate } }

    func replace(by delegate: any AnyObject & Sendable) {
        reference.withLock { $0 = Reference(delegate: delegate) }
    }
}

/// The delegates of a chat, by kind and identifier. Retains the listeners but not the delegates.
final class Delegates: Sendable {
    private struct Name: Hashable {
        var kind: String
        var identifier: String
    }

    private let entries = Lock<[Name: (slot: DelegateSlot, listener: AutoCloseable)]>([:])

    /// Adds a delegate, or replaces the delegate with the same kind and identifier. Returns the listener.
    ///
    /// - Parameter listen: creates a listener. Called when the kind and identifier have no listener, or when their
    ///   listener has ended.
    func add(
        _ delegate: any AnyObject & Sendable, as kind: String, _ identifier: String,
        _ listen: (DelegateSlot) -> AutoCloseable
    ) -> AutoCloseable {
        entries.withLock { entries in
            let name = Name(kind: kind, identifier: identifier)
            if let entry = entries[name], !entry.listener.isOver {
                entry.slot.replace(by: delegate)
                return entry.listener
            }
            let slot = DelegateSlot(delegate)
            let listener = listen(slot)
            entries[name] = (slot, listener)
            return listener
        }
    }

    func remove(_ kind: String, _ identifier: String) {
        let entry = entries.withLock { $0.removeValue(forKey: Name(kind: kind, identifier: identifier)) }
        entry?.listener.close()
    }
}
