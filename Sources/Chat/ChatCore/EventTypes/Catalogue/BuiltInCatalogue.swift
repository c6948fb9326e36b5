import ChatModel

/// The built-in event types: all types of events that the gateway itself emits. Each adjacent file defines the types of
/// one subject.
///
/// The objects in `data` have the same members as in the REST API. Times are RFC 3339 texts.
public enum BuiltInCatalogue {
    /// All built-in types, ordered by subject. Their names are unique.
    public static let all: [BuiltInType] = [
        messages, reactions, conversation, members, presence, users, channels, channelValues, counts, connections,
        reports,
    ].flatMap(\.self)

    /// Returns the built-in type with this name; nil when there is none.
    public static func named(_ name: String) -> BuiltInType? { byName[name] }

    /// Returns the default retention of events of a type; `.kept` for a type that is not built in.
    static func retention(of name: String) -> Retention { named(name)?.retention ?? .kept }

    private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}

extension BuiltInCatalogue {
    /// The types of events about the stream session of a user's device.
    static let connections: [BuiltInType] = [
        session(
            "connection.opened", "A device opened a stream session.", state: "open",
            more: """
                ,
                  "heartbeat_s": {"type": "number", "minimum": 0, "description": "Seconds between heartbeats."},
                  "resume_window_s": {"type": "number", "minimum": 0, "description": "Seconds for which the client can resume the session after its stream ended."}
                """),
        session(
            "connection.reconnecting", "The stream of a session ended. The client can resume the session.",
            state: "reconnecting"),
        session(
            "connection.reconnected", "A client resumed a session with a new stream.", state: "open",
            more: """
                ,
                  "gap": {"type": "boolean", "description": "True if events were lost while the session had no stream. In this case, the client must request its data again."}
                """),
        session("connection.failed", "A session ended, because the client did not resume it in time.", state: "closed"),
        session("connection.canceled", "A session was closed by its user.", state: "closed"),
    ]

    private static func session(
        _ name: String, _ description: String, state: String, more: String = ""
    ) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "required": ["session_id"],
                "properties": {
                  "session_id": {"type": "string", "minLength": 1, "description": "The session's id."},
                  "device_id": {"type": ["string", "null"], "description": "The device's id, if the device sent one."},
                  "attempt": {"$ref": "#/$defs/count", "description": "The number of attempts to resume the session."},
                  "state": {"const": "\(state)", "description": "The session's state after the event."}\(more)
                }
                """,
            accepts: [#"{"session_id":"ses_1","device_id":"phone","attempt":0,"state":"\#(state)"}"#],
            refuses: [#"{"device_id":"phone"}"#, #"{"session_id":"ses_1","state":"asleep"}"#])
    }
}

extension BuiltInCatalogue {
    /// The types of presence events, which are sent on the channel where the users are present.
    static let presence: [BuiltInType] = [
        occupant("presence.joined", "A user became present on a channel.", showsState: false),
        occupant(
            "presence.left", "A user is no longer present on a channel, because the user's client left the channel."),
        occupant(
            "presence.timed_out",
            "A user is no longer present on a channel, because the user's client sent no heartbeat for too long."),
        occupant(
            "presence.state_changed", "A user's presence state on a channel changed.",
            required: #""user", "state", "occupancy""#),
        BuiltInType(
            "presence.interval", .passing,
            "The number of users who are present on a channel. The event is sent at intervals, instead of an event for each join and leave, on channels with many users.",
            members: """
                "required": ["occupancy"],
                "properties": {
                  "occupancy": {"$ref": "#/$defs/count", "description": "The number of users on the channel now."},
                  "joined": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Users who joined since the previous event of this type; absent if `here_now_refresh` is true."
                  },
                  "left": {"type": "array", "items": {"type": "string"}, "description": "Users who left since the previous event of this type; absent if `here_now_refresh` is true."},
                  "timed_out": {"type": "array", "items": {"type": "string"}, "description": "Users who timed out since the previous event of this type; absent if `here_now_refresh` is true."},
                  "here_now_refresh": {"type": "boolean", "description": "True if the lists of users are too long for the event; request the channel's presence instead."}
                }
                """,
            accepts: [#"{"occupancy":120}"#, #"{"occupancy":2,"joined":["ana"],"left":[],"timed_out":["ben"]}"#],
            refuses: [#"{"joined":["ana"]}"#, #"{"occupancy":-1}"#]),
    ]

    /// Returns the type of a presence event about one user.
    ///
    /// - Parameter showsState: true to define the member `state`, the user's presence state, in the schema; false for
    ///   an event whose user has no state yet.
    private static func occupant(
        _ name: String, _ description: String, required: String = #""user", "occupancy""#, showsState: Bool = true
    ) -> BuiltInType {
        let state =
            showsState
            ? #", "state": {"type": "object", "description": "The user's presence state; absent if there is none."}"#
            : ""
        return BuiltInType(
            name, .passing, description,
            members: """
                "required": [\(required)],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user; contains only the id."},
                  "occupancy": {"$ref": "#/$defs/count", "description": "The number of users on the channel after the event."}\(state)
                }
                """,
            accepts: [
                showsState
                    ? #"{"user":{"id":"ana"},"occupancy":2,"state":{"mood":"busy"}}"#
                    : #"{"user":{"id":"ana"},"occupancy":2}"#
            ],
            refuses: [#"{"user":"ana","occupancy":2,"state":{}}"#, #"{"occupancy":2,"state":{}}"#])
    }
}
