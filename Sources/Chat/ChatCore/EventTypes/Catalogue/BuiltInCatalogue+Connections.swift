import ChatModel

extension BuiltInCatalogue {
    /// The session of a stream that was opened as a user's device.
    static let connections: [BuiltInType] = [
        session(
            "connection.opened", "A device opened a stream session.", state: "open",
            more: """
                ,
                  "heartbeat_s": {"type": "number", "minimum": 0, "description": "Seconds between signs of life."},
                  "resume_window_s": {"type": "number", "minimum": 0, "description": "Seconds a lost session can be resumed."}
                """),
        session("connection.reconnecting", "A session lost its stream and can be resumed.", state: "reconnecting"),
        session(
            "connection.reconnected", "A session was resumed.", state: "open",
            more: """
                ,
                  "gap": {"type": "boolean", "description": "True when events in between are lost: fetch again."}
                """),
        session("connection.failed", "A session was not resumed in time.", state: "closed"),
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
                  "session_id": {"type": "string", "minLength": 1, "description": "The session."},
                  "device_id": {"type": ["string", "null"], "description": "The device, if it has named itself."},
                  "attempt": {"$ref": "#/$defs/count", "description": "How often the session was resumed or tried to."},
                  "state": {"const": "\(state)", "description": "The session's state after the event."}\(more)
                }
                """,
            accepts: [#"{"session_id":"ses_1","device_id":"phone","attempt":0,"state":"\#(state)"}"#],
            refuses: [#"{"device_id":"phone"}"#, #"{"session_id":"ses_1","state":"asleep"}"#])
    }
}
