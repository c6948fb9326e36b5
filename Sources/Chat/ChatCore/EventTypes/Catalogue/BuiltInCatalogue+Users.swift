import ChatModel

extension BuiltInCatalogue {
    /// Users, and what is between them and others. (`user.mentioned` is with the conversation.)
    static let users: [BuiltInType] = [
        record("user.created", "A user's record was made."),
        record(
            "user.updated", "A user's record changed.",
            more: """
                ,
                  "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}, "description": "What changed."}
                """),
        record(
            "user.deleted", "A user's record was deleted.",
            more: """
                ,
                  "deleted_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."}
                """),
        block("user.blocked", "A user blocked another.", by: "blocker", whom: "blockee"),
        block("user.unblocked", "A user lifted the block of another.", by: "unblocker", whom: "unblockee"),
        restriction("user.muted", "A user may not write in a channel.", flag: "mute", isSet: true),
        restriction("user.unmuted", "A user may write in a channel again.", flag: "mute", isSet: false),
        restriction("user.banned", "A user may not be in a channel.", flag: "ban", isSet: true),
        restriction("user.unbanned", "A user may be in a channel again.", flag: "ban", isSet: false),
    ]

    private static func record(_ name: String, _ description: String, more: String = "") -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The record after the event, or as it last was."},
                  "etag": {"type": "string", "description": "The record's version."}\(more)
                }
                """,
            accepts: [#"{"user":{"user_id":"ana","nickname":"Ana","profile_url":null}}"#],
            refuses: [#"{"user":"ana"}"#, #"{"user":{"nickname":"Ana"}}"#])
    }

    private static func block(_ name: String, _ description: String, by: String, whom: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["\(by)", "\(whom)"],
                "properties": {
                  "\(by)": {"$ref": "#/$defs/user", "description": "Who did it."},
                  "\(whom)": {"$ref": "#/$defs/user", "description": "Whom it concerns."}
                }
                """,
            accepts: [#"{"\#(by)":{"user_id":"ana"},"\#(whom)":{"user_id":"mallory"}}"#],
            refuses: [#"{"\#(by)":{"user_id":"ana"}}"#])
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
