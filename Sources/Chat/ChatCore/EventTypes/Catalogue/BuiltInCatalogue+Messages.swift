import ChatModel

extension BuiltInCatalogue {
    /// The types of messages, signals, and custom events without a type.
    static let messages: [BuiltInType] = [
        BuiltInType(
            anything: "message.created", .kept, "A message was sent. `data` is the content that the sender provided.",
            accepts: [#"{"text":"hello"}"#, #"{"type":"text","text":"hello","files":[]}"#, #""hello""#, "42"]),
        BuiltInType(
            "message.updated", .kept, "A message was edited, or an edit or deletion of the message was undone.",
            members: """
                "required": ["message", "changes"],
                "properties": {
                  "message": {"$ref": "#/$defs/message"},
                  "changes": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/change"},
                    "description": "The changed fields of the message, such as `data` or `edited`; may be empty."
                  },
                  "undone": {
                    "type": "object",
                    "description": "The edit or deletion that was undone; absent in other cases.",
                    "required": ["type", "value", "action_timetoken"],
                    "properties": {
                      "type": {"enum": ["edited", "deleted"], "description": "The kind of change that was undone."},
                      "value": {"type": ["string", "null"], "description": "The text of the undone edit, or `deleted` for an undone deletion; null if the message was deleted later."},
                      "action_timetoken": {"$ref": "#/$defs/timetoken", "description": "The timetoken of the undone edit or deletion."}
                    }
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"message":\#(SharedTerms.message(#"{"text":"hello, world"}"#, edited: SharedTerms.actorAndTime)),"#
                    + #""changes":[{"key":"data","old":{"text":"hello"},"new":{"text":"hello, world"}},"#
                    + #"{"key":"edited","new":\#(SharedTerms.actorAndTime)}],"channel":\#(SharedTerms.crew)}"#,
                #"{"message":\#(SharedTerms.hello),"changes":[],"#
                    + #""undone":{"type":"edited","value":"hullo","action_timetoken":"17324123999999999"}}"#,
            ],
            refuses: [
                #"{"message":{"timetoken":"17324123456789012"},"changes":[]}"#, #"{"message":\#(SharedTerms.hello)}"#,
            ]),
        BuiltInType(
            "message.deleted", .kept, "A message was deleted.",
            members: """
                "required": ["message", "hard"],
                "properties": {
                  "message": {"$ref": "#/$defs/message"},
                  "hard": {"type": "boolean", "description": "True if the message was removed from the store; false if the message was only marked as deleted."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"message":\#(SharedTerms.message("null", deleted: SharedTerms.actorAndTime)),"hard":false,"#
                    + #""channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"message":\#(SharedTerms.hello),"hard":"yes"}"#, #"{"hard":true}"#]),
        BuiltInType(
            anything: "signal.sent", .passing,
            "A signal was sent: a small message that is not stored. `data` is the content that the sender provided.",
            accepts: [#"{"x":1,"y":2}"#, "true"]),
        BuiltInType(
            anything: "custom", .kept,
            "An app emitted an event without a type. `data` is the content that the app provided.",
            accepts: [#"{"answer":42}"#, "[]"]),
    ]
}
