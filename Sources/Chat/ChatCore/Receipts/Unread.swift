import ChatModel

/// How much a user has not read yet.
public struct Unread: Sendable, Equatable {
    public var total = 0
    /// By the channels' custom types; those of channels without one are in the total alone.
    public var byCustomType: [String: Int] = [:]

    public init() {}
}

/// One channel as one user has yet to read it.
struct UnreadChannel: Sendable {
    /// Whether its messages count: the user has joined it, and has not hidden it for good.
    var counts = false
    var customType: String?
    /// Messages up to here are not looked at.
    var since = Timetoken.zero
    /// Unread among those up to where they were counted, and those that came after it.
    var counted = 0
    var added = 0
    /// Has to be counted again before anybody is told.
    var isStale = true
    /// The number that `channel.activity` told last, and when it may tell the next.
    var told: Int?
    var due = Timetoken.zero
    /// How often it became stale: what is counted meanwhile counts for nothing.
    var turns = 0

    var unread: Int { counts ? counted + added : 0 }

    mutating func becomeStale() {
        isStale = true
        turns += 1
    }
}
