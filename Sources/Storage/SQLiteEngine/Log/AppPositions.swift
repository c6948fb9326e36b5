import ChatModel
import Locking

/// How far the log has come for each app: its newest event, or where the log was when it was opened. What others emit does
/// not show in it.
final class AppPositions: Sendable {
    private let start: Timetoken
    private let newest = Lock<[AppID: Timetoken]>([:])

    init(start: Timetoken) { self.start = start }

    func position(of app: AppID) -> Timetoken { newest.withLock { $0[app] } ?? start }

    /// Events that have become visible, oldest first.
    func note(_ events: [Event]) {
        guard !events.isEmpty else { return }
        newest.withLock { newest in
            for (index, event) in events.enumerated() {
                // Most commits are of one app.
                let isLast = index + 1 == events.count || events[index + 1].channel.app != event.channel.app
                if isLast { newest[event.channel.app] = event.timetoken }
            }
        }
    }
}
