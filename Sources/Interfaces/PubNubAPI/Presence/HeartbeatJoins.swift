import ChatModel
import Locking

/// The recent joins by heartbeats, each with a position of the log before the join.
///
/// SDKs send the first heartbeat and the handshake of a subscription at the same time. If the heartbeat arrives first,
/// the handshake returns a position before the join. A client that follows its own presence therefore receives its join
/// event.
final class HeartbeatJoins: Sendable {
    private struct Key: Hashable {
        let user: UserID
        let channel: ExactText
    }

    private struct Join {
        let position: Timetoken
        let at: Timetoken
    }

    /// The maximum time between a heartbeat and the handshake that belongs to it.
    private static let window: Duration = .seconds(10)
    /// The maximum number of recorded joins. When it is exceeded, the oldest joins are removed.
    private static let capacity = 8192

    private let joins = Lock(GenerationCache<Key, Join>(capacity: capacity))

    /// Records that a heartbeat makes the user join the channels. Called before the join.
    ///
    /// - Parameter position: a position of the log that precedes the join.
    func record(_ channels: [String], of user: UserID, after position: Timetoken, at now: Timetoken) {
        joins.withLock { joins in
            for channel in channels {
                joins.insert(Join(position: position, at: now), for: Key(user: user, channel: ExactText(channel)))
            }
        }
    }

    /// Removes the user's recorded joins of the channels, because the user leaves them.
    func forget(_ channels: [String], of user: UserID) {
        joins.withLock { joins in
            for channel in channels { joins.remove(Key(user: user, channel: ExactText(channel))) }
        }
    }

    /// Removes and returns the earliest position before the user's recent joins of the channels; nil if there are no
    /// such joins. The joins are removed, so that only one handshake returns a position before them.
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
