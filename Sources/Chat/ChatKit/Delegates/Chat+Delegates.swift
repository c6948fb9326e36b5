import ChatModel
import Locking

extension Chat {
    /// Tells a delegate what happens in the user's channels from now on. One that has the identifier already is replaced;
    /// the others go on.
    ///
    /// - Returns: for who wants to wait until it is ready; it need not be kept.
    @discardableResult
    public func addChannelDelegate(_ delegate: any ChannelDelegate, identifier: String) -> AutoCloseable {
        delegates.add("channel", identifier) {
            deviceEvents().listen { [weak delegate, chat = self] event in
                if let delegate { await ChannelNews(chat, event).tell(delegate) }
            }
        }
    }

    public func removeChannelDelegate(forIdentifier identifier: String) { delegates.remove("channel", identifier) }

    /// Tells a delegate of the user's own affairs from now on; identifiers as for channels.
    @discardableResult
    public func addUserEventDelegate(_ delegate: any UserEventDelegate, identifier: String) -> AutoCloseable {
        delegates.add("user", identifier) {
            deviceEvents(of: ["unread_count.updated"]).listen { [weak delegate] event in
                let data = AnyJSON(event.data)
                delegate?.didUpdateTotalUnreadMessageCount(
                    data.count("unread_count"), totalCountByCustomType: data.counts("by_custom_type"))
            }
        }
    }

    public func removeUserEventDelegate(forIdentifier identifier: String) { delegates.remove("user", identifier) }

    /// Tells a delegate of the connection from now on; identifiers as for channels.
    @discardableResult
    public func addConnectionDelegate(_ delegate: any ConnectionDelegate, identifier: String) -> AutoCloseable {
        let isBroken = Lock(false)
        return delegates.add("connection", identifier) {
            onConnectionStateChange { [weak delegate] state in
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

    public func removeConnectionDelegate(forIdentifier identifier: String) {
        delegates.remove("connection", identifier)
    }

    /// What the user's device hears.
    private func deviceEvents(of types: [String] = []) -> ChatStream<Event> {
        var selection = EventSelection(types: types)
        selection.isDevice = true
        return ChatStream(chat: self, selection: selection, transform: { [$0] })
    }
}

/// The delegates of a chat by kind and identifier. The chat keeps what drives them, and not the delegates themselves.
final class Delegates: Sendable {
    private struct Name: Hashable {
        var kind: String
        var identifier: String
    }

    private let listeners = Lock<[Name: AutoCloseable]>([:])

    func add(_ kind: String, _ identifier: String, _ listen: () -> AutoCloseable) -> AutoCloseable {
        let listener = listen()
        let replaced = listeners.withLock { $0.updateValue(listener, forKey: Name(kind: kind, identifier: identifier)) }
        replaced?.close()
        return listener
    }

    func remove(_ kind: String, _ identifier: String) {
        listeners.withLock { $0.removeValue(forKey: Name(kind: kind, identifier: identifier)) }?.close()
    }
}
