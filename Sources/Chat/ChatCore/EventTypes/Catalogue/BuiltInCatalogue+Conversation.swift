import ChatModel

extension BuiltInCatalogue {
    /// What goes on around messages: typing, receipts, mentions, reports to the moderators.
    static let conversation: [BuiltInType] = [
        typing("typing.started", "A user began to type.", isTyping: true),
        typing("typing.stopped", "A user stopped typing, or has not typed for a while.", isTyping: false),
        BuiltInType(
            "receipt.read", .passing, "A user has read up to a message.",
            members: """
                "required": ["user_id", "last_read_timetoken"],
                "properties": {
                  "user_id": {"type": "string", "minLength": 1, "description": "Who has read."},
                  "last_read_timetoken": {"$ref": "#/$defs/timetoken", "description": "The newest message read."},
                  "read_ts": {"$ref": "#/$defs/milliseconds", "description": "The same mark in milliseconds since 1970."},
                  "unread_member_count": {"$ref": "#/$defs/count", "description": "Members that have not read so far."}
                }
                """,
            accepts: [#"{"user_id":"ana","last_read_timetoken":"17324123456789012"}"#],
            refuses: [#"{"user_id":"ana"}"#, #"{"user_id":"ana","last_read_timetoken":1732412345678}"#]),
        BuiltInType(
            "receipt.delivered", .passing, "Messages have reached a user's device.",
            members: """
                "required": ["user_id", "delivered_ts"],
                "properties": {
                  "user_id": {"type": "string", "minLength": 1, "description": "Whose device."},
                  "delivered_ts": {"$ref": "#/$defs/milliseconds", "description": "The newest message there, as its time."},
                  "last_delivered_timetoken": {"$ref": "#/$defs/timetoken", "description": "The same mark as a position."},
                  "undelivered_member_count": {"$ref": "#/$defs/count", "description": "Members it has not reached."}
                }
                """,
            accepts: [#"{"user_id":"ben","delivered_ts":1732412345678,"undelivered_member_count":0}"#],
            refuses: [#"{"user_id":"ben","delivered_ts":"2024-11-24T01:39:05Z"}"#]),
        BuiltInType(
            "user.mentioned", .kept,
            "A message mentions the user on whose channel this event is, or everybody in its own channel.",
            members: """
                "required": ["message_timetoken", "channel_id"],
                "properties": {
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "The message."},
                  "channel_id": {"type": "string", "minLength": 1, "description": "Where it is."},
                  "parent_channel_id": {
                    "type": ["string", "null"],
                    "description": "In a thread, the channel of the message replied to."
                  },
                  "thread_of": {"$ref": "#/$defs/timetoken", "description": "In a thread, the message replied to."},
                  "mentioned_by_user_id": {"type": ["string", "null"], "description": "Who wrote it."},
                  "message": {"type": "object", "description": "The message itself."},
                  "mention_type": {"enum": ["users", "channel"], "description": "Whether some were named, or everybody."},
                  "mentioned_user_ids": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": 10,
                    "description": "Who is told of the mention."
                  }
                }
                """,
            accepts: [
                #"{"message_timetoken":"17324123456789012","channel_id":"room.1","parent_channel_id":null,"#
                    + #""mentioned_by_user_id":"ana"}"#
            ],
            refuses: [#"{"message_timetoken":"17324123456789012"}"#]),
        BuiltInType(
            "report.created", .kept, "A message or a user was reported to the moderators.",
            members: """
                "required": ["reason"],
                "properties": {
                  "reason": {"type": "string", "description": "Why, in the words of who reported."},
                  "text": {"type": ["string", "null"], "description": "The text of the message."},
                  "message_timetoken": {
                    "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                    "description": "The message."
                  },
                  "reported_message_channel_id": {"type": ["string", "null"], "description": "Where the message is."},
                  "reported_user_id": {"type": ["string", "null"], "description": "Who wrote it."},
                  "auto_moderation_id": {"type": ["string", "null"], "description": "The rule, if one reported by itself."}
                }
                """,
            accepts: [
                #"{"reason":"offensive","text":"bad words","message_timetoken":"17324123456789012","#
                    + #""reported_message_channel_id":"room.1","reported_user_id":"mallory","auto_moderation_id":null}"#
            ],
            refuses: [#"{"text":"bad words"}"#, #"{"reason":"offensive","message_timetoken":17324123456789012}"#]),
    ]

    private static func typing(_ name: String, _ description: String, isTyping: Bool) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "required": ["is_typing"],
                "properties": {
                  "is_typing": {"const": \(isTyping), "description": "The same fact as the type, for older clients."},
                  "user": {"$ref": "#/$defs/user", "description": "Who."},
                  "typing_users": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/user"},
                    "description": "Everybody who types in the channel now."
                  }
                }
                """,
            accepts: [
                #"{"is_typing":\#(isTyping),"user":{"id":"ana"},"typing_users":[{"id":"ben"}]}"#
            ],
            refuses: [
                #"{"is_typing":\#(!isTyping),"user":{"id":"ana"}}"#, #"{"is_typing":\#(isTyping),"user":"ana"}"#,
            ])
    }
}
