public import ChatModel
import Locking

/// The state of the connections of a chat's listeners.
///
/// An error names the listener (`error.listener`) and, if there is one, the failed request (`error.request`).
public enum ConnectionState: Sendable {
    /// Every listener is connected. When `hasGap` is true, a listener has lost events: reload all data that you derive
    /// from events.
    case connected(hasGap: Bool)
    /// A listener has lost its connection and tries to reconnect.
    case reconnecting(ChatError)
    /// A listener has ended because its address, credential or selection is wrong. The other listeners continue.
    case failed(ChatError)
    /// The chat was closed.
    case closed
}

/// The states of all listeners of a chat, combined for the callbacks of `onConnectionStateChange`.
final class ConnectionStates: Sendable {
    private struct State {
        var last = 0
        /// The numbers of the listeners that have reported a connection or an interruption and have not ended.
        var listeners: Set<Int> = []
        /// The numbers of the listeners whose connection is interrupted.
        var broken: Set<Int> = []
        /// True when the last reported state was `connected`.
        var isConnected = false
        /// True when a listener has lost events since the last `connected`.
        var hasGap = false
        var watchers: [Int: AsyncStream<ConnectionState>.Continuation] = [:]

        mutating func number() -> Int {
            last += 1
            return last
        }

        /// Returns the state `connected` when all listeners are connected and this state must be reported: the last
        /// reported state is a different state, or a listener has lost events since the last report. Otherwise returns
        /// nil.
        mutating func allConnected() -> ConnectionState? {
            guard broken.isEmpty, !listeners.isEmpty, !isConnected || hasGap else { return nil }
            defer { (isConnected, hasGap) = (true, false) }
            return .connected(hasGap: hasGap)
        }
    }

    private let state = Lock(State())

    /// Adds the state of a listener. Releasing the returned object removes the state.
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

    /// Changes the state, and reports the connection states that `body` returns. Both steps are under one lock, so that
    /// callbacks receive the connection states in order.
    private func change(_ body: (inout State) -> [ConnectionState]) {
        state.withLock { state in
            for update in body(&state) {
                for watcher in state.watchers.values { watcher.yield(update) }
            }
        }
    }

    /// Returns a sequence of the connection states that are reported after this call. At most the newest 64 of them
    /// wait for a slow reader.
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

/// The state of one listener.
final class ListenerState: Sendable {
    private let states: ConnectionStates
    private let number: Int
    private let selection: EventSelection
    /// The error that has prevented or interrupted the listener's connection; nil when there is none.
    private let failure = Lock<ChatError?>(nil)

    fileprivate init(_ states: ConnectionStates, _ number: Int, _ selection: EventSelection) {
        self.states = states
        self.number = number
        self.selection = selection
    }

    deinit { states.leave(number) }

    func connected(hasGap: Bool) {
        failure.withLock { $0 = nil }
        states.connected(number, hasGap: hasGap)
    }

    func interrupted(_ error: ChatError) {
        let error = error.of(selection)
        failure.withLock { $0 = error }
        states.interrupted(number, error)
    }

    /// Returns the error with the listener's selection added.
    func named(_ error: ChatError) -> ChatError { error.of(selection) }

    func failed(_ error: ChatError) { states.failed(number, error.of(selection)) }

    /// Returns the error that has prevented or interrupted the listener's connection. If there is none, returns an
    /// error with the message that the connection was not established within `limit`.
    func timeoutError(_ limit: Duration) -> ChatError {
        failure.withLock { $0 }
            ?? ChatError(.unavailable, "the connection was not established within \(limit)", slug: "not_connected").of(
                selection)
    }
}
