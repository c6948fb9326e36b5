/// The names of the gateway's own event types, and further names that an app's own types cannot have.
public enum BuiltInTypes {
    /// A chat message.
    public static let messageCreated = "message.created"
    /// A signal: a short message that history does not contain.
    public static let signalSent = "signal.sent"
    /// The type of an event that an app emits without naming a type.
    public static let custom = "custom"
    /// The current state of a membership. Only PubNub clients receive this event (``Audience/wire``).
    public static let membershipSet = "membership.set"
    /// The end of a membership. Only PubNub clients receive this event (``Audience/wire``).
    public static let membershipRemoved = "membership.removed"

    /// A channel's newest message and number of unread messages for a user. Sent only to readers that select this type
    /// by name (``namedOnly``).
    public static let channelActivity = "channel.activity"

    /// The types that a reader receives only when it selects them by exact name. A pattern, or a selection without
    /// types, does not include them.
    public static let namedOnly: Set<String> = [channelActivity]

    /// The types of events about users, channels and memberships.
    static let records: Set<String> = [
        "user.created", "user.updated", "user.deleted", "user.blocked", "user.unblocked", "user.mentioned",
        "user.muted", "user.unmuted", "user.banned", "user.unbanned",
        "channel.created", "channel.updated", "channel.deleted", "channel.events_deleted", "channel.frozen",
        "channel.unfrozen", "channel.hidden",
        "channel.metadata.created", "channel.metadata.updated", "channel.metadata.deleted",
        "channel.metacounter.created", "channel.metacounter.updated", "channel.metacounter.deleted",
        "channel.participant_count.updated", "channel.member_count.updated",
        "member.invited", "member.declined", "member.joined", "member.left",
        "membership.updated", membershipSet, membershipRemoved,
    ]

    /// The types of events about users who join a channel, leave it, or change their state in it.
    public static let presence: Set<String> = [
        "presence.joined", "presence.left", "presence.timed_out", "presence.state_changed", "presence.interval",
    ]

    /// The frequent types. The pattern `*` of a webhook does not select them; the webhook must name them.
    static let frequent: Set<String> = presence.union([
        "typing.started", "typing.stopped", "receipt.read", "receipt.delivered",
        "participant.entered", "participant.exited",
        "channel.participant_count.updated", "channel.member_count.updated", "unread_count.updated",
        "connection.opened", "connection.reconnecting", "connection.reconnected", "connection.failed",
        "connection.canceled",
    ]).union(namedOnly)

    /// Every built-in event type except ``custom`` and the types that begin with `stream.` or `system.`.
    public static let names: Set<String> = records.union(frequent).union([
        messageCreated, "message.updated", "message.deleted", signalSent,
        "reaction.added", "reaction.removed", "action.added", "action.removed", "thread.updated",
        "report.created", "source.rejected", "schema.violated", "schema.unusable", "key.expiring",
        "webhook.failing", "webhook.disabled", "webhook.recovered", "webhook.overflowing", "webhook.test",
    ])

    /// The names of the events that `EventSource` in browsers creates itself. A page could not distinguish an event of
    /// the gateway with one of these names from an event that the browser creates.
    public static let eventSourceNames: Set<String> = ["error", "open", "message"]

    /// The reserved names, at the index of their length in bytes. Comparing a name with a few others is faster than hashing
    /// it.
    private static let reservedNames: [[String]] = {
        let all = names.union(eventSourceNames)
        return (0...(all.map(\.utf8.count).max() ?? 0)).map { length in all.filter { $0.utf8.count == length } }
    }()

    /// True for names that an app's own types cannot have: ``names``, ``eventSourceNames``, `stream.…` and `system.…`.
    public static func isReserved(_ type: String) -> Bool {
        let length = type.utf8.count
        return length < reservedNames.count && reservedNames[length].contains(type) || isOfGateway(type)
    }

    /// True for types that the pattern `*` of a webhook does not select.
    public static func isFrequent(_ type: String) -> Bool { frequent.contains(type) }

    /// The error for an app's event or type declaration with a reserved name. Its slug is `type_reserved`.
    public static func refusal(of type: String) -> ChatError {
        let reason =
            if eventSourceNames.contains(type) {
                "'\(type)' is an event name that a browser's EventSource uses itself"
            } else if isOfGateway(type) {
                "types beginning with '\(type.prefix(while: { $0 != "." })).' are reserved for the gateway"
            } else {
                "'\(type)' is a built-in event type"
            }
        let own = "acme.\(type)"
        return ChatError(
            .malformed, "\(reason); use a name of your own, such as '\(own.utf8.count <= 64 ? own : "acme.report")'",
            slug: "type_reserved")
    }

    /// True for names that begin with `stream.` (the control messages of streams) or `system.` (the gateway's reports
    /// about its machine).
    private static func isOfGateway(_ type: String) -> Bool {
        // Comparing one byte first saves the calls for nearly all types.
        type.utf8.first == UInt8(ascii: "s") && (type.hasPrefix("stream.") || type.hasPrefix("system."))
    }
}
