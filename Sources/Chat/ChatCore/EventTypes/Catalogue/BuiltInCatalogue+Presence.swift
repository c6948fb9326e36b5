import ChatModel

extension BuiltInCatalogue {
    /// Who is there, on the channel itself.
    static let presence: [BuiltInType] = [
        occupant("presence.joined", "A user appeared on a channel.", showsState: false),
        occupant("presence.left", "A user went away from a channel."),
        occupant("presence.timed_out", "A user gave no sign of life for too long and counts as gone."),
        occupant(
            "presence.state_changed", "The state that a user shows on a channel changed.",
            required: #""user", "state", "occupancy""#),
        BuiltInType(
            "presence.interval", .passing,
            "How many are on a busy channel, told from time to time instead of each coming and going.",
            members: """
                "required": ["occupancy"],
                "properties": {
                  "occupancy": {"$ref": "#/$defs/count", "description": "How many are there now."},
                  "joined": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Users that came since the last such event, where that is told."
                  },
                  "left": {"type": "array", "items": {"type": "string"}, "description": "Users that went, likewise."},
                  "timed_out": {"type": "array", "items": {"type": "string"}, "description": "Users given up, likewise."},
                  "here_now_refresh": {"type": "boolean", "description": "True when the lists were too long: ask who is there."}
                }
                """,
            accepts: [#"{"occupancy":120}"#, #"{"occupancy":2,"joined":["ana"],"left":[],"timed_out":["ben"]}"#],
            refuses: [#"{"joined":["ana"]}"#, #"{"occupancy":-1}"#]),
    ]

    /// - Parameter showsState: False for a user who has no state yet.
    private static func occupant(
        _ name: String, _ description: String, required: String = #""user", "occupancy""#, showsState: Bool = true
    ) -> BuiltInType {
        let state =
            showsState
            ? #", "state": {"type": "object", "description": "What the user shows there; absent for nothing."}"# : ""
        return BuiltInType(
            name, .passing, description,
            members: """
                "required": [\(required)],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user, by the id alone."},
                  "occupancy": {"$ref": "#/$defs/count", "description": "How many are there after it."}\(state)
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
