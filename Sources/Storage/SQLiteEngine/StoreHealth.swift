import ChatModel
import Locking

/// How the store did last, for `health()`.
final class StoreHealth: Sendable {
    enum State: Sendable {
        case works
        case failed(ChatError)
    }

    private let state = Lock(State.works)

    func note(_ new: State) { state.withLock { $0 = new } }

    var current: State { state.withLock { $0 } }
}
