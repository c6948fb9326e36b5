import ChatModel
import Locking

/// The position in each app before which events are hidden. Every read needs it, so it is kept in memory beside the
/// file.
final class RetentionTable: Sendable {
    /// The stored retention state of one app.
    struct Entry: Sendable {
        /// The maximum age of events; nil keeps them forever.
        var age: Duration?
        /// The newest event that retention has removed from the file and whose removal counts as a loss.
        var newestLoss: Timetoken = .zero
        /// The position up to which removal has examined all events.
        var swept: Timetoken = .zero
        /// The highest cutoff given to a reader. It never decreases, whatever the clock does: an event that was hidden
        /// once must stay hidden.
        var cutoff: Timetoken = .zero
    }

    /// The time that retention waits for a planner's cursor (3 days). Without this bound, a planner that has stopped
    /// would keep all events forever.
    private static let gracePeriod: Duration = .seconds(3 * 24 * 3600)

    fileprivate struct State: Sendable {
        var apps: [AppID: Entry] = [:]
        var cursors: [CursorName: Timetoken] = [:]
    }

    /// The end of the last interval lost by a restore; zero when there is none.
    let restored: Timetoken

    private let state = Lock(State())

    init(restored: Timetoken = .zero) { self.restored = restored }

    /// The cutoff of an app: events at or below this position are hidden.
    func cutoff(of app: AppID, now: Timetoken) -> Timetoken {
        state.withLock { state in
            guard let entry = state.apps[app] else { return .zero }
            guard let age = entry.age else { return entry.cutoff }
            // Events that a planner has not passed yet do not expire.
            let needed = max(state.cursors.values.min() ?? .distantFuture, now.adding(.zero - Self.gracePeriod))
            let cutoff = max(entry.cutoff, min(now.adding(.zero - age), needed))
            state.apps[app]?.cutoff = cutoff
            return cutoff
        }
    }

    /// The apps with a retention age, from which events may have to be removed.
    var limited: [AppID] { state.withLock { $0.apps.filter { $0.value.age != nil }.map(\.key) } }

    func entry(of app: AppID) -> Entry { state.withLock { $0.apps[app] ?? Entry() } }

    func update(_ app: AppID, _ change: @Sendable (inout Entry) -> Void) {
        state.withLock { change(&$0.apps[app, default: Entry()]) }
    }

    /// The position of a planner; zero for a planner that has stored none yet.
    func cursor(_ name: CursorName) -> Timetoken { state.withLock { $0.cursors[name] ?? .zero } }

    func move(_ name: CursorName, to position: Timetoken) { state.withLock { $0.cursors[name] = position } }
}
