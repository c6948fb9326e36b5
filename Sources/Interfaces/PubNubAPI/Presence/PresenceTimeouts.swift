import ChatModel
import Locking

/// The presence timeouts that users have announced with the parameter `heartbeat`.
///
/// If the event engine of an SDK is enabled, the SDK sends the parameter with heartbeats, but not with subscribe calls.
/// A request without the parameter therefore keeps the timeout that the user announced last.
final class PresenceTimeouts: Sendable {
    /// The maximum number of users. When it is exceeded, the users whose timeouts were not used recently are removed.
    private static let capacity = 16_384

    private let timeouts = Lock(GenerationCache<UserID, Duration>(capacity: capacity))

    /// Returns the duration for which a user stays present after a request, and records a timeout that the request
    /// announces. The duration is `Limits.presenceAge` when the user has announced no timeout.
    func duration(_ announced: Duration?, of user: UserID, _ limits: Limits) -> Duration {
        timeouts.withLock { timeouts in
            guard let announced else { return timeouts.value(of: user) ?? limits.presenceAge }
            timeouts.insert(announced, for: user)
            return announced
        }
    }
}
