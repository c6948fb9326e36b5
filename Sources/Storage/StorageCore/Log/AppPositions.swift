package import ChatModel
import Locking

/// The position of each app in the log: the timetoken of the app's newest event, or the log's position when the
/// store was opened. Events of other apps do not change an app's position.
package final class AppPositions: Sendable {
    private struct State {
        /// The app of the newest event, and its position. Most events belong to the same app as the event before them,
        /// so their app is compared with this one and not hashed.
        var app = AppID.gateway
        var position: Timetoken
        /// The positions of the other apps. An entry for `app` is out of date.
        var others: [AppID: Timetoken] = [:]
    }

    private let start: Timetoken
    private let state: Lock<State>

    package init(start: Timetoken) {
        self.start = start
        state = Lock(State(position: start))
    }

    package func position(of app: AppID) -> Timetoken {
        state.withLock { $0.app == app ? $0.position : $0.others[app] ?? start }
    }

    /// Updates the positions after events have become visible. `events` must be in order, oldest first.
    package func record(_ events: [Event]) {
        state.withLock { state in
            for event in events {
                if !event.isOf(state.app) {
                    state.others[state.app] = state.position
                    state.app = event.channel.app
                }
                state.position = event.timetoken
            }
        }
    }
}
