import ChatModel

extension BuiltInCatalogue {
    /// Channels as records.
    static let channels: [BuiltInType] = [
        BuiltInType(
            "channel.created", .kept, "A channel's record was made.",
            members: """
                "required": ["channel"],
                "properties": {
                  "channel": {"$ref": "#/$defs/channel"},
                  "created_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "operators": {"type": "array", "items": {"$ref": "#/$defs/user"}, "description": "Who may moderate."},
                  "members": {"type": "array", "items": {"$ref": "#/$defs/member"}, "description": "Who belongs to it."},
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who made it; null for an operator."
                  },
                  "changes": {
                    "type": "array",
                    "items": {"type": "object", "required": ["key"]},
                    "description": "What the app keeps in it from the start, as `channel.updated` shows it."
                  },
                  "etag": {"type": "string", "description": "The record's version."}
                }
                """,
            accepts: [
                #"{"channel":{"channel_url":"crew","type":"group","name":"Crew","member_count":2}}"#,
                #"{"channel":{"id":"room.1","name":null,"custom":{"floor":3}}}"#,
            ],
            refuses: [#"{"channel":"crew"}"#, #"{"channel":{"name":"Crew"}}"#]),
        BuiltInType(
            "channel.updated", .kept, "A channel's record, operators or pinned message changed.",
            members: """
                "required": ["changes"],
                "properties": {
                  "changes": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/change"},
                    "description": "What changed: `name`, `cover_url`, `data`, `custom_type`, `operators`, …; may be nothing."
                  },
                  "channel": {"$ref": "#/$defs/channel"},
                  "etag": {"type": "string", "description": "The record's version."}
                }
                """,
            accepts: [
                #"{"changes":[{"key":"name","old":"Crew","new":"The crew"}],"channel":{"channel_url":"crew"}}"#
            ],
            refuses: [#"{"changes":{"name":"The crew"}}"#, #"{"changes":[{"old":"Crew","new":"The crew"}]}"#]),
        BuiltInType(
            "channel.deleted", .kept, "A channel was deleted.",
            members: """
                "required": ["deleted_at"],
                "properties": {
                  "deleted_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"deleted_at":1732412345678,"channel":{"channel_url":"crew","name":"Crew"}}"#],
            refuses: [#"{"deleted_at":"yesterday"}"#, #"{"channel":{"channel_url":"crew"}}"#]),
        BuiltInType(
            "channel.events_deleted", .kept,
            "Events of a channel were deleted by range. Of a large range each stretch is told when it is gone, oldest first.",
            members: """
                "required": ["after", "before", "deleted_count"],
                "properties": {
                  "after": {"$ref": "#/$defs/timetoken", "description": "Everything behind this place is gone, …"},
                  "before": {"$ref": "#/$defs/timetoken", "description": "… up to before this one."},
                  "deleted_count": {"type": "integer", "minimum": 1, "description": "How many events that were."}
                }
                """,
            accepts: [#"{"after":"0","before":"17324123456789012","deleted_count":3}"#],
            refuses: [
                #"{"after":"17324123456789012","before":"17324123456789013"}"#,
                #"{"after":"17324123456789012","before":"17324123456789013","deleted_count":"3"}"#,
            ]),
        freeze("channel.frozen", "Only operators may write in a channel.", true),
        freeze("channel.unfrozen", "Everybody may write in a channel again.", false),
        BuiltInType(
            "channel.hidden", .passing, "A user hid a channel from their own list.",
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "Whose list."},
                  "hide_previous_messages": {"type": "boolean", "description": "True when older messages are hidden too."},
                  "allow_auto_unhide": {"type": "boolean", "description": "True when a new message shows the channel again."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ana"},"hide_previous_messages":false,"allow_auto_unhide":true}"#],
            refuses: [#"{"user":{"id":"ana"},"allow_auto_unhide":1}"#, #"{"allow_auto_unhide":true}"#]),
    ]

    private static func freeze(_ name: String, _ description: String, _ isFrozen: Bool) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["freeze"],
                "properties": {
                  "freeze": {"const": \(isFrozen), "description": "The same fact as the type, for older clients."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"freeze":\#(isFrozen)}"#], refuses: [#"{"freeze":\#(!isFrozen)}"#, "{}"])
    }
}
