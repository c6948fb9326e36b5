package import ChatModel

/// The position of each app in the log: the timetoken of the app's newest event, or the log's position when the
/// store was opened. Events of other apps do not change an app's position.
package struct AppPositions: Sendable {
    /// The app of the newest event, and its position. Most events belong to the same app as the event before them,
    /// so their app is compared with this one and not hashed.
    private var app = AppID.gateway
    private var position: Timetoken
    /// The positions of the other apps. An entry for `app` is out of date.
    private var others: [AppID: Timetoken] = [:]
    private let start: Timetoken

    package init(start: Timetoken) { (position, self.start) = (start, start) }

    package func position(of app: AppID) -> Timetoken { self.app == app ? position : others[app] ?? start }

    /// Updates the positions after events have become visible. `events` must be in order, oldest first.
    package mutating func record(_ events: [Event]) {
        for event in events {
            if !event.isOf(app) {
                others[app] = position
                app = event.channel.app
            }
            position = event.timetoken
        }
    }
}
