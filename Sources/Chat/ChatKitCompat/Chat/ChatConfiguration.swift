import ChatKit
import FoundationEssentials

/// The settings of a chat.
public struct ChatConfiguration: Sendable {
    /// The number of seconds between two writes of the time of the user's activity. Values below 60 count as 60, and
    /// values above 86,400 as 86,400. A user counts as active for this number of seconds after a write.
    public var storeUserActivityInterval: Int
    /// True to write the time of the user's activity to `custom.lastActiveTimestamp` of the user's record at regular
    /// intervals. The first write is made by ``ChatImpl/initialize()``.
    public var storeUserActivityTimestamps: Bool

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - storeUserActivityInterval: the number of seconds between two writes of the time of the user's activity, from
    ///     60 to 86,400.
    ///   - storeUserActivityTimestamps: true to write this time to the user's record.
    public init(storeUserActivityInterval: Int = 600, storeUserActivityTimestamps: Bool = false) {
        self.storeUserActivityInterval = storeUserActivityInterval
        self.storeUserActivityTimestamps = storeUserActivityTimestamps
    }

    /// The interval between two writes of the time of the user's activity, in seconds, from 60 to 86,400.
    var interval: Int { min(max(storeUserActivityInterval, 60), 86_400) }
}

extension ChatKit.User {
    /// Writes the current time to `custom.lastActiveTimestamp` of the user's record. Returns the changed user.
    func storingActivity() async throws -> ChatKit.User {
        let now = Int(Date().timeIntervalSince1970 * 1000)
        return try await update { user, fields in
            let custom = user.custom.merging(["lastActiveTimestamp": now]) { $1 }
            fields.custom = .object(custom.mapValues(\.json))
        }
    }
}
