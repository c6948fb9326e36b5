import ChatModel

extension BuiltInCatalogue {
    /// Users, and what is between them and others. (`user.mentioned` is with the conversation.)
    static let users: [BuiltInType] = [
        record("user.created", "A user's record was made."),
        record(
            "user.updated", "A user's record changed.", required: #"["user", "changes"]"#,
            more: """
                ,
                  "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}, "description": "What changed."}
                """, example: #","changes":[{"key":"name","old":"An","new":"Ana"}]"#),
        record(
            "user.deleted", "A user's record was deleted.", required: #"["user", "deleted_at"]"#,
            more: """
                ,
                  "deleted_at": {"$ref": "#/$defs/timestamp", "description": "When."}
                """, example: #","deleted_at":"2024-11-24T01:39:05.678901Z""#),
        block("user.blocked", "A user blocked another."),
        block("user.unblocked", "A user lifted the block of another."),
        restriction("user.muted", "A user may not write in a channel.", flag: "mute", isSet: true),
        restriction("user.unmuted", "A user may write in a channel again.", flag: "mute", isSet: false),
        restriction("user.banned", "A user may not be in a channel.", flag: "ban", isSet: true),
        restriction("user.unbanned", "A user may be in a channel again.", flag: "ban", isSet: false),
    ]

    private static func record(
        _ name: String, _ description: String, required: String = #"["user"]"#, more: String = "", example: String = ""
    ) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": \(required),
                "properties": {
                  "user": {
                    "$ref": "#/$defs/user_record", "description": "The record after the event, or as it last was."
                  }\(more)
                }
                """,
            accepts: [
                #"{"user":{"id":"ana","name":"Ana","profile_url":null,"type":null,"status":null,"custom":null,"#
                    + #""metadata":{},"auto_accepts_invites":false,"created_timetoken":"17324123456789012","#
                    + #""created_at":"2024-11-24T01:39:05.678901Z","etag":"8c1f0b2d4e6a7931","#
                    + #""updated_at":"2024-11-24T01:39:05.678901Z"}\#(example)}"#
            ],
            refuses: [#"{"user":"ana"}"#, #"{"user":{"id":"ana","name":"Ana"}}"#])
    }

    private static func block(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["block", "user", "blocked_user"],
                "properties": {
                  "block": {"$ref": "#/$defs/block", "description": "The block, or what it last was."},
                  "user": {"$ref": "#/$defs/user", "description": "The user who blocks."},
                  "blocked_user": {"$ref": "#/$defs/user", "description": "The user who is blocked."}
                }
                """,
            accepts: [
                #"{"block":{"user":"ana","blocked":"mallory","since_timetoken":"17324123456789012","#
                    + #""created_at":"2024-11-24T01:39:05.678901Z"},"user":{"id":"ana","name":"Ana"},"#
                    + #""blocked_user":{"id":"mallory"}}"#
            ],
            refuses: [#"{"user":{"id":"ana"},"blocked_user":{"id":"mallory"}}"#])
    }

    private static func restriction(
        _ name: String, _ description: String, flag: String, isSet: Bool
    ) -> BuiltInType {
        let other = flag == "ban" ? "mute" : "ban"
        return BuiltInType(
            name, .kept, description,
            members: """
                "required": ["user_id", "channel_id", "ban", "mute"],
                "properties": {
                  "user_id": {"type": "string", "minLength": 1, "description": "Whom it concerns."},
                  "channel_id": {"type": "string", "minLength": 1, "description": "Where."},
                  "\(flag)": {"const": \(isSet), "description": "Whether the user is under this restriction now."},
                  "\(other)": {"type": "boolean", "description": "Whether the user is under the other restriction now."},
                  "reason": {
                    "type": ["string", "null"],
                    "description": "In the moderator's words; `request` or `expired` when it was lifted without any."
                  },
                  "user": {"$ref": "#/$defs/user", "description": "Whom it concerns."},
                  "start_at": {"$ref": "#/$defs/milliseconds", "description": "From when, in milliseconds since 1970."},
                  "end_at": {"$ref": "#/$defs/milliseconds", "description": "Until when, likewise; -1 for good."},
                  "description": {"type": ["string", "null"], "description": "More words of the moderator."},
                  "agent": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who did it; null for an operator."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user_id":"mallory","channel_id":"room.1","\#(flag)":\#(isSet),"\#(other)":false,"reason":"spam"}"#
            ],
            refuses: [
                #"{"user_id":"mallory","channel_id":"room.1","\#(flag)":\#(!isSet),"\#(other)":false}"#,
                #"{"user_id":"mallory","\#(flag)":\#(isSet),"\#(other)":false}"#,
            ])
    }
}
