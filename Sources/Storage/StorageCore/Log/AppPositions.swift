package import ChatModel
import Locking

/// The position of each app in the log: the timetoken of the app's newest event, or the log's position when the
/// store was opened. Events of other apps do not change an app's position.
package final class AppPositions: Sendable {
    private let start: Timetoken
    private let newest = Lock<[AppID: Timetoken]>([:])

    package init(start: Timetoken) { self.start = start }

    package func position(of app: AppID) -> Timetoken { newest.withLock { $0[app] } ?? start }

    /// Updates the positions after events have become visible. `events` must be in order, oldest first.
    package func record(_ events: [Event]) {
        guard !events.isEmpty else { return }
        newest.withLock { newest in
            for (index, event) in events.enumerated() {
                // Most commits contain only events of one app, so only the last event of a run of the same app is
                // stored.
                let isLast = index + 1 == events.count || events[index + 1].channel.app != event.channel.app
                if isLast { newest[event.channel.app] = event.timetoken }
            }
        }
    }
}
