import ChatModel

extension BuiltInCatalogue {
    /// Numbers that change often; each is announced at most once per interval.
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
            "unread_count.updated", .passing, "The number of a user's unread messages changed.",
            members: """
                "required": ["unread_count", "by_custom_type", "counted_timetoken", "counted_at"],
                "properties": {
                  "unread_count": {"$ref": "#/$defs/count", "description": "Unread messages of all channels together."},
                  "by_custom_type": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/$defs/count"},
                    "description": "The same by the channels' custom types; one that dropped to 0 is named."
                  },
                  "counted_timetoken": {"$ref": "#/$defs/timetoken", "description": "The place up to which messages are counted."},
                  "counted_at": {"$ref": "#/$defs/timestamp", "description": "The moment of `counted_timetoken` as a time."}
                }
                """,
            accepts: [
                #"{"unread_count":4,"by_custom_type":{"work":4,"home":0},"counted_timetoken":"17324123456789012","#
                    + #""counted_at":"2024-11-24T01:39:05.678901Z"}"#
            ],
            refuses: [
                #"{"unread_count":-1,"by_custom_type":{},"counted_timetoken":"17324123456789012","#
                    + #""counted_at":"2024-11-24T01:39:05.678901Z"}"#,
                #"{"unread_count":4}"#,
            ]),
        BuiltInType(
            BuiltInTypes.channelActivity, .passing,
            """
            A channel has a new last message (sent to its readers), or a user's number of unread messages in it changed (sent to \
            that user). At most once a second, and only to those who name the type.
            """,
            members: """
                "required": ["channel"],
                "properties": {
                  "channel": {
                    "type": "object",
                    "description": "Which channel; without a record it has an id alone.",
                    "required": ["id"],
                    "properties": {
                      "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                      "kind": {"enum": ["direct", "group", "public", "open"], "description": "As in the channel's record."},
                      "name": {"type": ["string", "null"], "description": "The name to show."},
                      "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."}
                    }
                  },
                  "last_message": {
                    "type": ["object", "null"],
                    "description": "The message, as `GET /v1/channels/{channel}/messages/{timetoken}` shows it; null where it was \
                deleted meanwhile. Replies in threads are not reported.",
                    "required": ["timetoken"],
                    "properties": {
                      "id": {"type": "string", "description": "The id of the message's event."},
                      "timetoken": {"$ref": "#/$defs/timetoken", "description": "The message."},
                      "user": {"type": ["string", "null"], "description": "Who sent it."},
                      "data": {"description": "What was sent, or its newest edit."}
                    }
                  },
                  "unread_count": {"$ref": "#/$defs/count", "description": "Messages of the channel that the user has not read."}
                },
                "oneOf": [{"required": ["last_message"]}, {"required": ["unread_count"]}]
                """,
            accepts: [
                #"{"channel":{"id":"crew","kind":"group","name":"Crew","custom_type":"work"},"unread_count":4}"#,
                #"{"channel":{"id":"room"},"last_message":{"id":"e17324123456789012","timetoken":"17324123456789012","#
                    + #""user":"ana","data":{"text":"Hello"}}}"#,
            ],
            refuses: [#"{"channel":{"id":"crew"}}"#, #"{"channel":"crew","unread_count":4}"#]),
    ]
}
