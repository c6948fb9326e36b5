package import ChatModel
import Locking

/// The retention state of each app, in memory. It determines the position up to which events are hidden, which every
/// read needs.
package final class RetentionTable: Sendable {
    /// The stored retention state of one app.
    package struct Entry: Sendable {
        /// The maximum age of events; nil means that events are never removed because of their age.
        package var age: Duration?
        /// The timetoken of the newest event that retention has removed from the store and whose removal counts as a
        /// loss for readers.
        package var newestLoss: Timetoken = .zero
        /// The position up to which the removal of old events has examined all events.
        package var swept: Timetoken = .zero
        /// The highest position up to which events have been hidden from a reader. It never decreases, even if the
        /// clock is set back, so that hidden events stay hidden.
        package var cutoff: Timetoken = .zero

        package init(
            age: Duration? = nil, newestLoss: Timetoken = .zero, swept: Timetoken = .zero, cutoff: Timetoken = .zero
        ) {
            self.age = age
            self.newestLoss = newestLoss
            self.swept = swept
            self.cutoff = cutoff
        }
    }

    /// The maximum time for which retention waits for a planner (3 days). A planner creates deliveries from events, and
    /// its cursor is its position in the log. Without this limit, a stopped planner would prevent the removal of events
    /// forever.
    private static let gracePeriod: Duration = .seconds(3 * 24 * 3600)

    fileprivate struct State: Sendable {
        var apps: [AppID: Entry] = [:]
        var cursors: [CursorName: Timetoken] = [:]
    }

    /// The end of the last interval whose events were lost when a backup was restored; zero when there is none.
    package let restored: Timetoken

    private let state = Lock(State())

    package init(restored: Timetoken = .zero) { self.restored = restored }

    /// Returns the cutoff of an app. Events at or before this position are hidden.
    package func cutoff(of app: AppID, now: Timetoken) -> Timetoken {
        state.withLock { state in
            guard let entry = state.apps[app] else { return .zero }
            guard let age = entry.age else { return entry.cutoff }
            // Retention does not hide events that a planner has not processed yet.
            let needed = max(state.cursors.values.min() ?? .distantFuture, now.adding(.zero - Self.gracePeriod))
            let cutoff = max(entry.cutoff, min(now.adding(.zero - age), needed))
            state.apps[app]?.cutoff = cutoff
            return cutoff
        }
    }

    /// The apps with a maximum age of events, from which events may have to be removed.
    package var limited: [AppID] { state.withLock { $0.apps.filter { $0.value.age != nil }.map(\.key) } }

    package func entry(of app: AppID) -> Entry { state.withLock { $0.apps[app] ?? Entry() } }

    package func update(_ app: AppID, _ change: @Sendable (inout Entry) -> Void) {
        state.withLock { change(&$0.apps[app, default: Entry()]) }
    }

    /// Returns the position of a planner; zero if the planner has not stored a position yet.
    package func cursor(_ name: CursorName) -> Timetoken { state.withLock { $0.cursors[name] ?? .zero } }

    package func move(_ name: CursorName, to position: Timetoken) { state.withLock { $0.cursors[name] = position } }
}
