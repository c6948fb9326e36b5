import ChatModel

extension BuiltInCatalogue {
    /// The types of events around messages: typing, receipts, mentions and reports to the moderators.
    static let conversation: [BuiltInType] = [
        typing("typing.started", "A user began to type."),
        typing("typing.stopped", "A user stopped typing, or has not typed for a while."),
        receipt("receipt.read", "A user has read a channel up to a message.", "read", "unread_member_count"),
        receipt(
            "receipt.delivered", "Messages were delivered to a user's device.", "delivered", "undelivered_member_count"),
        BuiltInType(
            "user.mentioned", .kept,
            "A message mentions the user on whose own channel this event is sent, or everybody in the message's channel.",
            members: """
                "required": ["message"],
                "properties": {
                  "message": {"$ref": "#/$defs/message_reference"},
                  "mentions": {
                    "anyOf": [{"const": "channel"}, {"type": "array", "items": {"type": "string"}, "maxItems": 1000}],
                    "description": "The mentioned users, who are notified; `channel` if everybody in the channel is notified."
                  },
                  "channel": {"$ref": "#/$defs/channel", "description": "The message's channel."}
                }
                """,
            accepts: [
                #"{"message":\#(SharedTerms.hello),"mentions":["ben"],"channel":\#(SharedTerms.crew)}"#,
                #"{"message":{"timetoken":"17324123456789012","channel":"room.1","user":"ana"}}"#,
            ],
            refuses: [#"{"message":{"timetoken":"17324123456789012"}}"#, #"{"mentions":"channel"}"#]),
        BuiltInType(
            "report.created", .kept, "A message or a user was reported to the moderators.",
            members: """
                "required": ["reason"],
                "properties": {
                  "reason": {"type": "string", "description": "The reason that the reporting user gave."},
                  "message": {"$ref": "#/$defs/message_reference"},
                  "text": {
                    "type": ["string", "null"], "description": "The text of the message, if a PubNub SDK sent the report."
                  },
                  "author": {"$ref": "#/$defs/user", "description": "The user who wrote the message; absent if a program of the app wrote the message."},
                  "user": {"$ref": "#/$defs/user", "description": "The user who made the report; absent if an operator of the app made the report."},
                  "auto_moderation_id": {
                    "type": "string", "description": "The rule or program that made the report automatically."
                  },
                  "channel": {"$ref": "#/$defs/channel", "description": "The message's channel."}
                }
                """,
            accepts: [
                #"{"reason":"offensive","message":\#(SharedTerms.hello),"author":{"id":"ana","name":"Ana"},"#
                    + #""user":{"id":"ben"},"channel":\#(SharedTerms.crew)}"#,
                #"{"reason":"offensive","text":"bad words","message":{"timetoken":"17324123456789012","channel":"room.1"},"#
                    + #""author":{"id":"mallory"},"auto_moderation_id":"words"}"#,
            ],
            refuses: [#"{"text":"bad words"}"#, #"{"reason":"offensive","message":"17324123456789012"}"#]),
    ]

    private static func receipt(_ name: String, _ description: String, _ mark: String, _ count: String) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "required": ["user", "\(mark)_timetoken"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user whose position changed."},
                  "\(mark)_timetoken": {
                    "$ref": "#/$defs/timetoken", "description": "The timetoken of the newest \(mark) message. The membership stores the same value."
                  },
                  "\(mark)_at": {"$ref": "#/$defs/timestamp", "description": "The time of `\(mark)_timetoken`, in RFC 3339 format."},
                  "\(count)": {
                    "$ref": "#/$defs/count",
                    "description": "The number of other joined members whose `\(mark)_timetoken` is earlier or null; absent in channels of more than 100 members."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"\#(mark)_timetoken":"17324123456789012","\#(mark)_at":"2024-11-24T01:39:05.678901Z","#
                    + #""\#(count)":0,"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [
                #"{"user":{"id":"ben"}}"#, #"{"user":"ben","\#(mark)_timetoken":"17324123456789012"}"#,
            ])
    }

    private static func typing(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who began or stopped typing; absent if a PubNub SDK sent no user."},
                  "typing_users": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/user"},
                    "description": "The users who are typing in the channel now, at most 20."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user":{"id":"ana"},"typing_users":[{"id":"ben","name":"Ben"}],"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"user":"ana"}"#, #"{"typing_users":["ana"]}"#])
    }
}
