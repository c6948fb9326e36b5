/// The names the gateway keeps for its own events (`events.md` 2 and 3).
public enum BuiltInTypes {
    public static let messageCreated = "message.created"
    public static let signalSent = "signal.sent"
    /// A custom event emitted without a type.
    public static let custom = "custom"
    /// A membership as it is now, and one that ended. Subscribers of PubNub's wire get them (``Audience/wire``), no others.
    public static let membershipSet = "membership.set"
    public static let membershipRemoved = "membership.removed"

    public static let reservedSubjects: Set<String> = [
        "message", "signal", "reaction", "action", "thread", "typing", "receipt", "presence", "participant", "member",
        "membership", "user", "channel", "invite", "report", "unread_count", "connection", "webhook", "source",
        "schema", "key", "stream", "system",
    ]

    /// True when the name begins with a reserved subject and a dot: nobody but the gateway may emit it.
    public static func isReserved(_ type: String) -> Bool {
        guard let dot = type.firstIndex(of: ".") else { return false }
        return reservedSubjects.contains(String(type[..<dot]))
    }

    /// Types a `*` of a webhook leaves out because there are many of them: they must be named (`product.md` 6).
    public static func isChatty(_ type: String) -> Bool {
        guard let dot = type.firstIndex(of: ".") else { return false }
        if chattySubjects.contains(String(type[..<dot])) { return true }
        return type.hasPrefix("channel.") && type.hasSuffix("_count.updated")
    }

    private static let chattySubjects: Set<String> = [
        "typing", "receipt", "presence", "participant", "connection", "unread_count",
    ]
}
