public import ChatModel
import Locking

/// How the chat's listeners are connected to where their events come from.
///
/// The errors name the listener (`error.listener`), and the request where there is one (`error.request`).
public enum ConnectionState: Sendable {
    /// Every listener is connected. With a gap, events of a listener are lost: what depends on all of them must be read
    /// again.
    case connected(hasGap: Bool)
    /// The connection of a listener broke, and is made again.
    case reconnecting(ChatError)
    /// A listener is over: the address, the credential or what it asked for is wrong. The others go on.
    case failed(ChatError)
    /// The chat was closed.
    case closed
}

/// The states of all listeners, for those who want to know about the connection.
final class ConnectionStates: Sendable {
    private struct State {
        var last = 0
        /// Listeners that are connected or were, and those of them whose connection is broken.
        var listeners: Set<Int> = []
        var broken: Set<Int> = []
        /// Whether the last state that watchers got was `connected`.
        var isConnected = false
        /// Whether a listener has lost events since then.
        var hasGap = false
        var watchers: [Int: AsyncStream<ConnectionState>.Continuation] = [:]

        mutating func number() -> Int {
            last += 1
            return last
        }

        /// The news that all are connected, if it is one.
        mutating func allConnected() -> ConnectionState? {
            guard broken.isEmpty, !listeners.isEmpty, !isConnected || hasGap else { return nil }
            defer { (isConnected, hasGap) = (true, false) }
            return .connected(hasGap: hasGap)
        }
    }

    private let state = Lock(State())

    /// A listener's own state; it leaves when that is released.
    func enter(_ selection: EventSelection) -> ListenerState {
        ListenerState(self, state.withLock { $0.number() }, selection)
    }

    func close() { change { _ in [.closed] } }

    fileprivate func connected(_ listener: Int, hasGap: Bool) {
        change { state in
            state.listeners.insert(listener)
            state.broken.remove(listener)
            state.hasGap = state.hasGap || hasGap
            return [state.allConnected()].compactMap(\.self)
        }
    }

    fileprivate func interrupted(_ listener: Int, _ error: ChatError) {
        change { state in
            state.listeners.insert(listener)
            state.broken.insert(listener)
            state.isConnected = false
            return [.reconnecting(error)]
        }
    }

    fileprivate func failed(_ listener: Int, _ error: ChatError) {
        change { state in
            state.listeners.remove(listener)
            state.broken.remove(listener)
            return [.failed(error)] + [state.allConnected()].compactMap(\.self)
        }
    }

    fileprivate func leave(_ listener: Int) {
        change { state in
            state.listeners.remove(listener)
            guard state.broken.remove(listener) != nil else { return [] }
            return [state.allConnected()].compactMap(\.self)
        }
    }

    /// Yields under the lock, so that watchers get the states in their order.
    private func change(_ body: (inout State) -> [ConnectionState]) {
        state.withLock { state in
            for news in body(&state) {
                for watcher in state.watchers.values { watcher.yield(news) }
            }
        }
    }

    /// The states from now on; the newest ones for a reader that is slow.
    func follow() -> AsyncStream<ConnectionState> {
        let (states, continuation) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            let number = state.number()
            state.watchers[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
        }
        return states
    }
}

/// The state of one listener among all.
final class ListenerState: Sendable {
    private let states: ConnectionStates
    private let number: Int
    private let selection: EventSelection
    /// Why it is not connected.
    private let obstacle = Lock<ChatError?>(nil)

    fileprivate init(_ states: ConnectionStates, _ number: Int, _ selection: EventSelection) {
        self.states = states
        self.number = number
        self.selection = selection
    }

    deinit { states.leave(number) }

    func connected(hasGap: Bool) {
        obstacle.withLock { $0 = nil }
        states.connected(number, hasGap: hasGap)
    }

    func interrupted(_ error: ChatError) {
        let error = error.of(selection)
        obstacle.withLock { $0 = error }
        states.interrupted(number, error)
    }

    func failed(_ error: ChatError) { states.failed(number, error.of(selection)) }

    /// That it is not connected in time, and why.
    func late(_ limit: Duration) -> ChatError {
        obstacle.withLock { $0 }
            ?? ChatError(.unavailable, "not connected within \(limit)", slug: "not_connected").of(selection)
    }
}
