import ChatKit
import FoundationEssentials

/// The settings of a chat.
public struct ChatConfiguration: Sendable {
    /// The number of seconds between two writes of the time of the user's activity, 60 at least. A user counts as active
    /// for as long after a write.
    public var storeUserActivityInterval: Int
    /// True to write the time of the user's activity to `custom.lastActiveTimestamp` of the user while the chat exists,
    /// first in ``ChatImpl/initialize()``.
    public var storeUserActivityTimestamps: Bool

    /// Creates settings.
    public init(storeUserActivityInterval: Int = 600, storeUserActivityTimestamps: Bool = false) {
        self.storeUserActivityInterval = storeUserActivityInterval
        self.storeUserActivityTimestamps = storeUserActivityTimestamps
    }

    /// The interval within its bounds, in seconds.
    var interval: Int { min(max(storeUserActivityInterval, 60), 86_400) }
}

extension ChatKit.User {
    /// Writes the present time as that of the user's activity, and returns the changed user.
    func storingActivity() async throws -> ChatKit.User {
        let now = Int(Date().timeIntervalSince1970 * 1000)
        return try await update { user, fields in
            let custom = user.custom.merging(["lastActiveTimestamp": now]) { $1 }
            fields.custom = .object(custom.mapValues(\.json))
        }
    }
}
