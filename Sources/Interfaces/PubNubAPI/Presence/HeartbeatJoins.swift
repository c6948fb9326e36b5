import ChatModel
import Locking

/// Recent joins by heartbeats, with positions of the log before them.
///
/// SDKs send the first heartbeat and the handshake of a subscription at the same time. When the heartbeat arrives first,
/// the handshake continues before the join, so that a client that follows its own presence receives it.
final class HeartbeatJoins: Sendable {
    private struct Key: Hashable {
        let user: UserID
        let channel: ExactText
    }

    private struct Join {
        let position: Timetoken
        let at: Timetoken
    }

    /// The longest time between a heartbeat and the handshake that belongs to it.
    private static let window: Duration = .seconds(10)
    /// The maximum number of recorded joins. Beyond it, the oldest are forgotten.
    private static let capacity = 8192

    private let joins = Lock(GenerationCache<Key, Join>(capacity: capacity))

    /// Records that a heartbeat makes the user join these channels. Call it before the join.
    ///
    /// - Parameter position: a position of the log that precedes the join.
    func record(_ channels: [String], of user: UserID, after position: Timetoken, at now: Timetoken) {
        joins.withLock { joins in
            for channel in channels {
                joins.insert(Join(position: position, at: now), for: Key(user: user, channel: ExactText(channel)))
            }
        }
    }

    /// The earliest position before the user's recent joins of these channels; nil without any. Forgets these joins, so
    /// that only one handshake continues before them.
    func take(_ channels: [String], of user: UserID, at now: Timetoken) -> Timetoken? {
        joins.withLock { joins in
            var earliest: Timetoken?
            for channel in channels {
                let key = Key(user: user, channel: ExactText(channel))
                guard let join = joins.value(of: key) else { continue }
                joins.remove(key)
                if now < join.at.adding(Self.window) { earliest = min(earliest ?? join.position, join.position) }
            }
            return earliest
        }
    }
}
