public import ChatModel
import Locking

/// How the chat's live events are connected to where they come from.
public enum ConnectionState: Sendable {
    /// With a gap, events are lost: what depends on all of them must be read again.
    case connected(hasGap: Bool)
    /// The connection broke, and is made again.
    case reconnecting(ChatError)
    /// It cannot be made: the address, the credential or what was asked for is wrong.
    case failed(ChatError)
    /// The chat was closed.
    case closed
}

/// Who wants to know about the connection.
final class ConnectionStates: Sendable {
    private struct Watchers {
        var isConnected = false
        var next = 0
        var continuations: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
    }

    private let watchers = Lock(Watchers())

    /// Tells a state; one connection more is no news.
    func tell(_ state: ConnectionState) {
        let told = watchers.withLock { watchers in
            if case .connected(hasGap: false) = state, watchers.isConnected {
                return [] as [AsyncStream<ConnectionState>.Continuation]
            }
            if case .connected = state { watchers.isConnected = true } else { watchers.isConnected = false }
            return Array(watchers.continuations.values)
        }
        for continuation in told { continuation.yield(state) }
    }

    /// The states from now on; the newest ones for a reader that is slow.
    func follow() -> AsyncStream<ConnectionState> {
        let (states, continuation) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(64))
        let number = watchers.withLock { watchers in
            watchers.next += 1
            watchers.continuations[watchers.next] = continuation
            return watchers.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.watchers.withLock { $0.continuations[number] = nil }
        }
        return states
    }
}
