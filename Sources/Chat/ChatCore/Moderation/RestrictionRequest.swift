public import ChatModel

/// What a moderator puts upon a user in a channel; in place of what was upon the user before.
public struct RestrictionRequest: Sendable, Equatable {
    /// Neither writes nor hears, and is no member any more.
    public var isBan: Bool
    /// Does not write.
    public var isMute: Bool
    /// In the moderator's words.
    public var reason: String?
    /// Nil: until it is lifted.
    public var until: Timetoken?

    public init(isBan: Bool = false, isMute: Bool = false, reason: String? = nil, until: Timetoken? = nil) {
        self.isBan = isBan
        self.isMute = isMute
        self.reason = reason
        self.until = until
    }
}
