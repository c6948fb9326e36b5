import ChatModel

extension BuiltInCatalogue {
    /// What is attached to a message: reactions, other actions, replies.
    static let reactions: [BuiltInType] = [
        reaction("reaction.added", "A user reacted to a message.", operation: "add"),
        reaction("reaction.removed", "A user took a reaction to a message back.", operation: "delete"),
        action("action.added", "An action of another kind than a reaction was attached to a message."),
        action("action.removed", "An action of another kind than a reaction was taken from a message."),
        BuiltInType(
            "thread.updated", .kept, "A reply to a message was created or deleted.",
            members: """
                "required": ["operation"],
                "anyOf": [{"required": ["parent_message_timetoken"]}, {"required": ["parent_message_id"]}],
                "properties": {
                  "parent_message_timetoken": {"$ref": "#/$defs/timetoken", "description": "The message replied to."},
                  "parent_message_id": {"$ref": "#/$defs/message_id", "description": "The message replied to."},
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "The reply."},
                  "message_id": {"$ref": "#/$defs/message_id", "description": "The reply."},
                  "operation": {"enum": ["reply_created", "reply_deleted"], "description": "What happened to the reply."},
                  "thread_channel_id": {"type": "string", "description": "The channel that holds the replies, if one does."},
                  "action_timetoken": {
                    "$ref": "#/$defs/timetoken",
                    "description": "The action that named that channel, where it is what happened."
                  },
                  "thread_info": {
                    "type": "object",
                    "description": "The thread after the event.",
                    "properties": {
                      "reply_count": {"$ref": "#/$defs/count", "description": "Replies there are."},
                      "most_replies": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/user"},
                        "description": "Who replied most."
                      },
                      "last_replied_at": {"$ref": "#/$defs/milliseconds", "description": "Time of the newest reply, or 0."},
                      "updated_at": {"$ref": "#/$defs/milliseconds", "description": "Time of this change."}
                    }
                  }
                }
                """,
            accepts: [
                #"{"parent_message_timetoken":"17324123456789012","message_timetoken":"17324123999999999","#
                    + #""operation":"reply_created","thread_info":{"reply_count":1,"last_replied_at":1732412399999}}"#
            ],
            refuses: [
                #"{"operation":"reply_created"}"#,
                #"{"parent_message_timetoken":"17324123456789012","operation":"reply_updated"}"#,
            ]),
    ]

    private static func reaction(_ name: String, _ description: String, operation: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["reaction"],
                "anyOf": [{"required": ["message_timetoken"]}, {"required": ["message_id"]}],
                "properties": {
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "Which message."},
                  "message_id": {"$ref": "#/$defs/message_id"},
                  "reaction": {"type": "string", "minLength": 1, "description": "The reaction: a key or an emoji."},
                  "operation": {"const": "\(operation)", "description": "The same fact as the type, for older clients."},
                  "user": {"$ref": "#/$defs/user", "description": "Whose reaction it is."},
                  "action_timetoken": {"$ref": "#/$defs/timetoken", "description": "The reaction's own position."},
                  "updated_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."}
                }
                """,
            accepts: [
                #"{"message_timetoken":"17324123456789012","reaction":"smile"}"#,
                #"{"message_id":5321,"reaction":"smile","user":{"id":"ana"},"updated_at":1732412346000}"#,
            ],
            refuses: [#"{"message_timetoken":"17324123456789012","reaction":7}"#, #"{"reaction":"smile"}"#])
    }

    private static func action(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["message_timetoken", "type", "value"],
                "properties": {
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "Which message."},
                  "type": {"type": "string", "minLength": 1, "description": "The action's kind, in the app's own words."},
                  "value": {"type": "string", "minLength": 1, "description": "The action's content."},
                  "action_timetoken": {"$ref": "#/$defs/timetoken", "description": "The action's own position."},
                  "user_id": {"type": "string", "description": "Whose action it is."}
                }
                """,
            accepts: [#"{"message_timetoken":"17324123456789012","type":"delivered_to","value":"kitchen"}"#],
            refuses: [#"{"message_timetoken":"17324123456789012","type":"delivered_to"}"#])
    }
}
