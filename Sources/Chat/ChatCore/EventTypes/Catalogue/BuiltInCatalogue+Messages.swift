import ChatModel

extension BuiltInCatalogue {
    /// What is said: messages, signals, and custom events that have no type.
    static let messages: [BuiltInType] = [
        BuiltInType(
            anything: "message.created", .kept, "A message was sent. `data` is what the sender wrote.",
            accepts: [#"{"text":"hello"}"#, #"{"type":"text","text":"hello","files":[]}"#, #""hello""#, "42"]),
        BuiltInType(
            "message.updated", .kept, "A message was edited.",
            members: """
                "required": ["message_timetoken"],
                "anyOf": [{"required": ["text"]}, {"required": ["data"]}],
                "properties": {
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "Which message."},
                  "message_id": {"$ref": "#/$defs/message_id"},
                  "text": {"type": "string", "description": "The new text."},
                  "data": {"description": "The new payload, where the message is not text."},
                  "message": {"type": "object", "description": "The message as it is now."},
                  "undone": {
                    "type": "object",
                    "description": "The edit or deletion that was taken back, where that is what happened.",
                    "properties": {
                      "type": {"enum": ["edited", "deleted"], "description": "Which of them."},
                      "value": {"type": "string", "description": "What the edit said."},
                      "action_timetoken": {"$ref": "#/$defs/timetoken", "description": "Its place."}
                    }
                  },
                  "old_values": {"type": "object", "description": "What changed, as it was before."}
                }
                """,
            accepts: [
                #"{"message_timetoken":"17324123456789012","text":"hello, world"}"#,
                #"{"message_timetoken":"17324123456789012","data":{"score":[2,1]},"message_id":5321}"#,
            ],
            refuses: [
                #"{"message_timetoken":17324123456789012,"text":"a timetoken is a string"}"#,
                #"{"message_timetoken":"17324123456789012"}"#,
            ]),
        BuiltInType(
            "message.deleted", .kept, "A message was deleted.",
            members: """
                "required": ["message_timetoken", "hard"],
                "properties": {
                  "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "Which message."},
                  "hard": {"type": "boolean", "description": "True when it is gone; false when only marked as deleted."},
                  "message_id": {"$ref": "#/$defs/message_id"},
                  "user_id": {"type": "string", "description": "Who wrote it, where it was a user."},
                  "message_type": {"type": "string", "description": "`MESG`, `FILE` or `ADMM`, where it is known."},
                  "deleted_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."}
                }
                """,
            accepts: [#"{"message_timetoken":"17324123456789012","hard":false,"user_id":"ana"}"#],
            refuses: [#"{"message_timetoken":"17324123456789012","hard":"yes"}"#, #"{"hard":true}"#]),
        BuiltInType(
            anything: "signal.sent", .passing, "A signal was sent. `data` is what the sender wrote.",
            accepts: [#"{"x":1,"y":2}"#, "true"]),
        BuiltInType(
            anything: "custom", .kept, "A custom event was emitted without a type. `data` is what the sender wrote.",
            accepts: [#"{"answer":42}"#, "[]"]),
    ]
}
