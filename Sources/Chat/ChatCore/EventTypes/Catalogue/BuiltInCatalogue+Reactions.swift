import ChatModel

extension BuiltInCatalogue {
    /// The types of events about additions to a message: reactions, other message actions and replies.
    static let reactions: [BuiltInType] = [
        reaction("reaction.added", "A user reacted to a message."),
        reaction("reaction.removed", "A user removed a reaction from a message."),
        action("action.added", "An action other than a reaction was added to a message."),
        action("action.removed", "An action other than a reaction was removed from a message."),
        BuiltInType(
            "thread.updated", .kept,
            "A reply to a message was created or deleted, or the channel of the replies changed.",
            members: """
                "required": ["operation", "thread_of", "thread", "most_replies"],
                "properties": {
                  "operation": {"enum": ["reply_created", "reply_deleted"], "description": "`reply_created` if a reply or the channel of the replies was added; `reply_deleted` if it was removed."},
                  "thread_of": {"$ref": "#/$defs/timetoken", "description": "The timetoken of the parent message."},
                  "message_timetoken": {
                    "$ref": "#/$defs/timetoken",
                    "description": "The timetoken of the reply; absent if several replies were deleted, or if only the channel of the replies changed."
                  },
                  "thread": {
                    "anyOf": [{"$ref": "#/$defs/thread"}, {"type": "null"}],
                    "description": "The `thread` of the parent message after the event; null if the message has no replies."
                  },
                  "most_replies": {
                    "type": "array",
                    "maxItems": 5,
                    "items": {"$ref": "#/$defs/user"},
                    "description": "The users who wrote the most replies, at most 5."
                  },
                  "action": {
                    "$ref": "#/$defs/action",
                    "description": "The added or removed action that names the channel of the replies; absent if a reply was created or deleted."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"operation":"reply_created","thread_of":"17324123456789012","message_timetoken":"17324123999999999","#
                    + #""thread":{"reply_count":1,"authors":[{"user":"ben","replies":1}],"#
                    + #""last_reply_timetoken":"17324123999999999","root":"ana","channel":null},"#
                    + #""most_replies":[{"id":"ben","name":"Ben"}],"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [
                #"{"operation":"reply_created"}"#,
                #"{"operation":"reply_updated","thread_of":"17324123456789012","thread":null,"most_replies":[]}"#,
            ]),
    ]

    private static func reaction(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["reaction", "user", "reaction_count", "message_etag"],
                "properties": {
                  "reaction": {"$ref": "#/$defs/action"},
                  "user": {"$ref": "#/$defs/user", "description": "The user whose reaction was added or removed."},
                  "reaction_count": {"$ref": "#/$defs/count", "description": "The number of users who have this reaction to the message after the event."},
                  "message_etag": \(messageVersion),
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"reaction":\#(SharedTerms.action("reactions", "smile")),"user":{"id":"ben","name":"Ben"},"#
                    + #""reaction_count":1,"message_etag":"8c1f0b2d4e6a7931","channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [
                #"{"reaction":"smile","user":{"id":"ben"},"reaction_count":1,"message_etag":"8c1f0b2d4e6a7931"}"#,
                #"{"user":{"id":"ben"}}"#,
            ])
    }

    private static func action(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["action", "user", "message_etag"],
                "properties": {
                  "action": {"$ref": "#/$defs/action"},
                  "user": {"$ref": "#/$defs/user", "description": "The user to whom the action belongs."},
                  "message_etag": \(messageVersion),
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"action":\#(SharedTerms.action("delivered_to", "kitchen")),"user":{"id":"ben","name":"Ben"},"#
                    + #""message_etag":"8c1f0b2d4e6a7931"}"#
            ],
            refuses: [#"{"action":"delivered_to","user":{"id":"ben"},"message_etag":"8c1f0b2d4e6a7931"}"#])
    }

    /// The JSON Schema of the member `message_etag`, the version of the message, in events about message actions.
    private static let messageVersion =
        #"{"type": "string", "description": "The message's `etag` after the event, for `If-Match`."}"#
}
