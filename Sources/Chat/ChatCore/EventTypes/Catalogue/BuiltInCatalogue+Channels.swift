import ChatModel

extension BuiltInCatalogue {
    /// The types of events about changes of channel records.
    static let channels: [BuiltInType] = [
        BuiltInType(
            "channel.created", .kept, "A channel's record was created.",
            members: """
                "required": ["channel", "members", "memberships", "inviter"],
                "properties": {
                  "channel": {"$ref": "#/$defs/channel"},
                  "members": {"type": "array", "items": {"$ref": "#/$defs/user"}, "description": "The channel's first members."},
                  "memberships": {
                    "type": "array", "items": {"$ref": "#/$defs/membership"}, "description": "The memberships of the first members, in the same order."
                  },
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "The user who created the channel; null if an operator of the app created the channel."
                  }
                }
                """,
            accepts: [
                #"{"channel":\#(SharedTerms.crew),"members":[{"id":"ben"}],"memberships":[\#(SharedTerms.ben)],"#
                    + #""inviter":{"id":"ana","name":"Ana"}}"#
            ],
            refuses: [#"{"channel":"crew"}"#, #"{"channel":{"name":"Crew"}}"#]),
        BuiltInType(
            "channel.updated", .kept, "A channel's record, operators or pinned message changed.",
            members: """
                "required": ["changes", "channel"],
                "properties": {
                  "changes": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/change"},
                    "description": "The changed fields of the channel, such as `name`, `frozen` or `distinct`; may be empty."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"changes":[{"key":"name","old":"The crew","new":"Crew"}],"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"changes":{"name":"The crew"}}"#, #"{"changes":[{"old":"Crew","new":"The crew"}]}"#]),
        BuiltInType(
            "channel.deleted", .kept, "A channel was deleted.",
            members: """
                "required": ["deleted_at", "channel"],
                "properties": {
                  "deleted_at": {"$ref": "#/$defs/timestamp", "description": "Time of the deletion."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"deleted_at":"2024-11-24T01:39:05.678901Z","channel":\#(SharedTerms.crew)}"#],
            refuses: [#"{"deleted_at":"yesterday"}"#, #"{"channel":{"id":"crew"}}"#]),
        BuiltInType(
            "channel.events_deleted", .kept,
            "A range of a channel's events was deleted. A large range is deleted in parts, oldest first, with one `channel.events_deleted` event for each part.",
            members: """
                "required": ["after", "before", "deleted_count"],
                "properties": {
                  "after": {"$ref": "#/$defs/timetoken", "description": "The start of the deleted range, exclusive."},
                  "before": {"$ref": "#/$defs/timetoken", "description": "The end of the deleted range, exclusive."},
                  "deleted_count": {"type": "integer", "minimum": 1, "description": "The number of deleted events."}
                }
                """,
            accepts: [#"{"after":"0","before":"17324123456789012","deleted_count":3}"#],
            refuses: [
                #"{"after":"17324123456789012","before":"17324123456789013"}"#,
                #"{"after":"17324123456789012","before":"17324123456789013","deleted_count":"3"}"#,
            ]),
        freeze("channel.frozen", "A channel was frozen: only operators may write in it."),
        freeze("channel.unfrozen", "A channel was unfrozen: users other than its operators may write in it again."),
        BuiltInType(
            "channel.hidden", .passing, "A user hid a channel from their own list.",
            members: """
                "required": ["user", "membership", "channel"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who hid the channel."},
                  "membership": {"$ref": "#/$defs/membership"},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ben"},"membership":\#(SharedTerms.ben),"channel":\#(SharedTerms.crew)}"#],
            refuses: [#"{"user":{"id":"ben"}}"#, #"{"user":"ben","membership":null}"#]),
    ]

    private static func freeze(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["channel"],
                "properties": {"channel": {"$ref": "#/$defs/channel"}}
                """,
            accepts: [#"{"channel":\#(SharedTerms.crew)}"#], refuses: [#"{"channel":"crew"}"#, "{}"])
    }
}
