import ChatModel
import Locking

/// The bytes that posts of several events may have under way. Each is in memory twice until its answer comes, and a thousand
/// connections would bound that by gigabytes.
final class BatchByteLimit: Sendable {
    private struct State {
        var free: Int
        var held: [AppID: Int] = [:]
    }

    private let state: Lock<State>

    init(bytes: Int) { state = Lock(State(free: bytes)) }

    /// Takes bytes out, if that leaves enough for other apps: who is alone gets seven eighths, as of attempts.
    func take(_ bytes: Int, for app: AppID) -> Bool {
        // Posts of one event are not counted, and need no room.
        guard bytes > 0 else { return true }
        return state.withLock { state in
            let held = state.held[app, default: 0] + bytes
            guard held / 7 <= state.free - bytes else { return false }
            state.free -= bytes
            state.held[app] = held
            return true
        }
    }

    func giveBack(_ bytes: Int, for app: AppID) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.free += bytes
            let held = state.held[app, default: 0] - bytes
            state.held[app] = held == 0 ? nil : held
        }
    }
}
