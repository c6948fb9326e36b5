import ChatModel
import Locking

/// The result of the store's last commit, for ``SQLiteEngine/health()``.
final class StoreHealth: Sendable {
    enum State: Sendable {
        case works
        case failed(ChatError)
    }

    private let state = Lock(State.works)

    func set(_ new: State) { state.withLock { $0 = new } }

    var current: State { state.withLock { $0 } }
}
