import ChatModel

extension BuiltInCatalogue {
    /// The types of events about users and relations between users. The type `user.mentioned` is in `conversation`.
    static let users: [BuiltInType] = [
        record("user.created", "A user's record was created."),
        record(
            "user.updated", "A user's record changed.", required: #"["user", "changes"]"#,
            more: """
                ,
                  "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}, "description": "The changed fields."}
                """, example: #","changes":[{"key":"name","old":"An","new":"Ana"}]"#),
        record(
            "user.deleted", "A user's record was deleted.", required: #"["user", "deleted_at"]"#,
            more: """
                ,
                  "deleted_at": {"$ref": "#/$defs/timestamp", "description": "Time of the deletion."}
                """, example: #","deleted_at":"2024-11-24T01:39:05.678901Z""#),
        block("user.blocked", "A user blocked another user."),
        block("user.unblocked", "A user unblocked another user."),
        restriction("user.muted", "A user was muted and may not write in a channel.", flag: "mute", isSet: true),
        restriction("user.unmuted", "A user was unmuted and may write in a channel again.", flag: "mute", isSet: false),
        restriction("user.banned", "A user was banned and may not be in a channel.", flag: "ban", isSet: true),
        restriction("user.unbanned", "A user was unbanned and may be in a channel again.", flag: "ban", isSet: false),
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
                    "$ref": "#/$defs/user_record", "description": "The record after the event; for a deleted user, the record before the deletion."
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
                  "block": {"$ref": "#/$defs/block", "description": "The block; if the block was lifted, its last values."},
                  "user": {"$ref": "#/$defs/user", "description": "The user who blocks."},
                  "blocked_user": {"$ref": "#/$defs/user", "description": "The user who is blocked."}
                }
                """,
            accepts: [
                #"{"block":{"id":"ana/mallory","user":"ana","blocked":"mallory","since_timetoken":"17324123456789012","#
                    + #""created_at":"2024-11-24T01:39:05.678901Z"},"user":{"id":"ana","name":"Ana"},"#
                    + #""blocked_user":{"id":"mallory"}}"#
            ],
            refuses: [#"{"user":{"id":"ana"},"blocked_user":{"id":"mallory"}}"#])
    }

    private static func restriction(
        _ name: String, _ description: String, flag: String, isSet: Bool
    ) -> BuiltInType {
        let other = flag == "ban" ? "mute" : "ban"
        let end = """
            ,
              "end_reason": {"enum": ["request", "expired"], "description": "`request` if a request ended the restriction; `expired` if the restriction reached its end time."}
            """
        return BuiltInType(
            name, .kept, description,
            members: """
                "required": ["restriction"],
                "properties": {
                  "restriction": {
                    "$ref": "#/$defs/restriction",
                    "properties": {"\(flag)": {"const": \(isSet), "description": "Always `\(isSet)` in events of this type."}}
                  },
                  "user": {"$ref": "#/$defs/user", "description": "The restricted user."},
                  "moderator": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "The user who changed the restriction; null if an operator of the app or the gateway changed the restriction."
                  },
                  "channel": {"$ref": "#/$defs/channel", "description": "The channel; absent if the channel has no record."}\(isSet ? "" : end)
                }
                """,
            accepts: [
                #"{"restriction":{"id":"mallory/room.1","user":"mallory","channel":"room.1","\#(flag)":\#(isSet),"\#(other)":false,"#
                    + #""reason":"spam","moderator":"ana","since_timetoken":"17324123456789012","#
                    + #""until_timetoken":null,"until":null,"created_at":"2024-11-24T01:39:05.678901Z","#
                    + #""etag":"8c1f0b2d4e6a7931","updated_at":"2024-11-24T01:39:05.678901Z"},"#
                    + #""user":{"id":"mallory"},"moderator":{"id":"ana","name":"Ana"}}"#
            ],
            refuses: [
                #"{"restriction":{"id":"mallory/room.1","user":"mallory","channel":"room.1","\#(flag)":\#(!isSet),"\#(other)":false,"reason":null}}"#,
                #"{"restriction":{"id":"mallory/room.1","user":"mallory","\#(flag)":\#(isSet),"\#(other)":false,"reason":null}}"#,
            ])
    }
}
