import ChatModel

extension BuiltInCatalogue {
    /// The types of events about numbers that change often. Each number is announced at most once per interval.
    static let counts: [BuiltInType] = [
        BuiltInType(
            "channel.participant_count.updated", .passing, "The number of users inside open channels changed.",
            members: """
                "required": ["channels"],
                "properties": {
                  "channels": {
                    "type": "array",
                    "minItems": 1,
                    "description": "The channels whose number of users changed since the previous event of this type.",
                    "items": {
                      "type": "object",
                      "required": ["id", "participant_count"],
                      "properties": {
                        "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                        "kind": {"enum": ["direct", "group", "public", "open"], "description": "The kind of the channel."},
                        "name": {"type": ["string", "null"], "description": "The display name."},
                        "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
                        "participant_count": {"$ref": "#/$defs/count", "description": "The number of users inside the channel."}
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
                    "description": "The channels whose number of members changed since the previous event of this type.",
                    "items": {
                      "type": "object",
                      "required": ["id", "kind", "member_count", "joined_member_count"],
                      "properties": {
                        "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                        "kind": {"enum": ["direct", "group", "public", "open"], "description": "The kind of the channel."},
                        "name": {"type": ["string", "null"], "description": "The display name."},
                        "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
                        "member_count": {"$ref": "#/$defs/count", "description": "The number of members, invited ones included."},
                        "joined_member_count": {"$ref": "#/$defs/count", "description": "The number of joined members."}
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
                  "unread_count": {"$ref": "#/$defs/count", "description": "The number of unread messages in all channels."},
                  "by_custom_type": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/$defs/count"},
                    "description": "The number of unread messages for each custom type of channel; includes types whose number dropped to 0."
                  },
                  "counted_timetoken": {"$ref": "#/$defs/timetoken", "description": "The position in the log of events up to which messages are counted."},
                  "counted_at": {"$ref": "#/$defs/timestamp", "description": "The time of `counted_timetoken`, in RFC 3339 format."}
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
            A channel has a new last message, or a user's number of unread messages in the channel changed. For each channel, the \
            gateway reports each of these two changes at most once a second, and only to clients that name this event type.
            """,
            members: """
                "required": ["channel"],
                "properties": {
                  "channel": {
                    "type": "object",
                    "description": "The channel; only `id` is present if it has no record.",
                    "required": ["id"],
                    "properties": {
                      "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
                      "kind": {"enum": ["direct", "group", "public", "open"], "description": "The kind of the channel."},
                      "name": {"type": ["string", "null"], "description": "The display name."},
                      "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."}
                    }
                  },
                  "last_message": {
                    "type": ["object", "null"],
                    "description": "The channel's newest message, as `GET /v1/channels/{channel}/messages/{timetoken}` shows it; null \
                if the message was deleted. A reply in a thread does not become the last message.",
                    "required": ["timetoken"],
                    "properties": {
                      "id": {"type": "string", "description": "The id of the message's event."},
                      "timetoken": {"$ref": "#/$defs/timetoken", "description": "The timetoken of the message."},
                      "user": {"type": ["string", "null"], "description": "The user who sent the message."},
                      "data": {"description": "The content of the message, as sent or as last edited."}
                    }
                  },
                  "unread_count": {"$ref": "#/$defs/count", "description": "The number of the channel's messages that the user has not read."}
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
