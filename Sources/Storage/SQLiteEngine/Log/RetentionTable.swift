import ChatModel
import Locking

/// How far back each space may be read, asked for by every read: kept in memory beside the file.
final class RetentionTable: Sendable {
    /// What the file says of one space.
    struct Entry: Sendable {
        /// Nil: for ever.
        var age: Duration?
        /// The newest event that retention has removed from the file, and whose end is a loss.
        var newestLoss: Timetoken = .zero
        /// Removal has looked at everything up to here.
        var swept: Timetoken = .zero
        /// The furthest bound given to a reader. It never goes back, whatever the clock does: what was hidden once
        /// must not come back.
        var cutoff: Timetoken = .zero
    }

    /// The planner is waited for this long; past it a dead one would keep everything for ever.
    private static let patience: Duration = .seconds(3 * 24 * 3600)

    fileprivate struct State: Sendable {
        var apps: [AppID: Entry] = [:]
        var cursors: [CursorName: Timetoken] = [:]
    }

    /// The end of the last interval that a restore has lost; zero without any.
    let restored: Timetoken

    private let state = Lock(State())

    init(restored: Timetoken = .zero) { self.restored = restored }

    /// Events at or below this position are hidden.
    func cutoff(of app: AppID, now: Timetoken) -> Timetoken {
        state.withLock { state in
            guard let entry = state.apps[app] else { return .zero }
            guard let age = entry.age else { return entry.cutoff }
            // Events a planner still needs are not expired before it has passed them.
            let needed = max(state.cursors.values.min() ?? .distantFuture, now.adding(.zero - Self.patience))
            let cutoff = max(entry.cutoff, min(now.adding(.zero - age), needed))
            state.apps[app]?.cutoff = cutoff
            return cutoff
        }
    }

    /// The spaces something may have to be removed from.
    var limited: [AppID] { state.withLock { $0.apps.filter { $0.value.age != nil }.map(\.key) } }

    func entry(of app: AppID) -> Entry { state.withLock { $0.apps[app] ?? Entry() } }

    func update(_ app: AppID, _ change: @Sendable (inout Entry) -> Void) {
        state.withLock { change(&$0.apps[app, default: Entry()]) }
    }

    /// Where a planner stands. Zero for one that has not stood anywhere yet.
    func cursor(_ name: CursorName) -> Timetoken { state.withLock { $0.cursors[name] ?? .zero } }

    func move(_ name: CursorName, to position: Timetoken) { state.withLock { $0.cursors[name] = position } }
}
