import ChatModel

extension BuiltInCatalogue {
    /// Numbers that change often and are told at most once in a while.
    static let counts: [BuiltInType] = [
        BuiltInType(
            "channel.participant_count.updated", .passing, "The number of users inside open channels changed.",
            members: """
                "required": ["channels"],
                "properties": {
                  "channels": {
                    "type": "array",
                    "minItems": 1,
                    "description": "Every channel whose number changed since the last such event.",
                    "items": {
                      "type": "object",
                      "required": ["id", "participant_count"],
                      "properties": {
                        "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                        "kind": {"enum": ["direct", "group", "public", "open"], "description": "As in the channel's record."},
                        "name": {"type": ["string", "null"], "description": "The name to show."},
                        "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
                        "participant_count": {"$ref": "#/$defs/count", "description": "How many are inside."}
                      }
                    }
                  }
                }
                """,
            accepts: [
                #"{"channels":[{"id":"lobby","kind":"open","name":"Lobby","custom_type":null,"participant_count":12}]}"#
            ],
            refuses: [#"{"channels":[{"id":"lobby"}]}"#, #"{"channels":[]}"#]),
        BuiltInType(
            "channel.member_count.updated", .passing, "The number of members of channels changed.",
            members: """
                "required": ["channels"],
                "properties": {
                  "channels": {
                    "type": "array",
                    "minItems": 1,
                    "description": "Every channel whose number changed since the last such event.",
                    "items": {
                      "type": "object",
                      "required": ["id", "kind", "member_count", "joined_member_count"],
                      "properties": {
                        "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                        "kind": {"enum": ["direct", "group", "public", "open"], "description": "As in the channel's record."},
                        "name": {"type": ["string", "null"], "description": "The name to show."},
                        "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
                        "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members."},
                        "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members."}
                      }
                    }
                  }
                }
                """,
            accepts: [
                #"{"channels":[{"id":"crew","kind":"group","name":"Crew","custom_type":"work","member_count":3,"#
                    + #""joined_member_count":2}]}"#
            ],
            refuses: [
                #"{"channels":[{"id":"crew","kind":"group","member_count":"3","joined_member_count":2}]}"#,
                #"{"channels":[]}"#,
            ]),
        BuiltInType(
            "unread_count.updated", .passing, "What a user has not read yet has changed in number.",
            members: """
                "required": ["unread_count", "ts"],
                "properties": {
                  "unread_count": {"$ref": "#/$defs/count", "description": "Unread messages of all channels together."},
                  "by_custom_type": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/$defs/count"},
                    "description": "The same by the channels' custom types; one that dropped to 0 is named."
                  },
                  "unread_mention_count": {"$ref": "#/$defs/count", "description": "Those that mention the user."},
                  "ts": {"$ref": "#/$defs/milliseconds", "description": "When it was counted; drop what is older."}
                }
                """,
            accepts: [#"{"unread_count":4,"by_custom_type":{"work":4,"home":0},"ts":1732412345678}"#],
            refuses: [#"{"unread_count":-1,"ts":1732412345678}"#, #"{"unread_count":4}"#]),
    ]
}
