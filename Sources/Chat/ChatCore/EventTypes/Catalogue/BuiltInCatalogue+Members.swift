import ChatModel

extension BuiltInCatalogue {
    /// Memberships of a channel, and users entering and leaving it.
    static let members: [BuiltInType] = [
        BuiltInType(
            "member.invited", .kept, "Users were invited to a channel. Also on the channel of each who is invited.",
            members: """
                "required": ["channel", "inviter"],
                "properties": {
                  "channel": {
                    "description": "The channel's record; its id and kind alone where a PubNub SDK published the invitation.",
                    "type": "object",
                    "required": ["id", "kind"],
                    "if": {"required": ["etag"]},
                    "then": {"$ref": "#/$defs/channel"},
                    "properties": {"id": {"type": "string", "minLength": 1, "description": "The channel's id."}}
                  },
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who invited; null for an operator of the app."
                  },
                  "invitees": {"type": "array", "items": {"$ref": "#/$defs/user"}, "description": "The invited users."},
                  "memberships": {
                    "type": "array", "items": {"$ref": "#/$defs/membership"},
                    "description": "Their memberships, in the same order; a state `joined` needs no answer."
                  }
                }
                """,
            accepts: [
                #"{"channel":{"id":"room.1","kind":"group"},"inviter":{"id":"ana"}}"#,
                #"{"inviter":null,"invitees":[{"id":"ben"}],"memberships":[\#(SharedTerms.ben)],"#
                    + #""channel":\#(SharedTerms.crew)}"#,
            ],
            refuses: [
                #"{"channel":{"kind":"group"},"inviter":null}"#,
                #"{"channel":{"id":"crew","kind":"group"},"inviter":null,"invitees":["ben"]}"#,
            ]),
        BuiltInType(
            "member.declined", .kept, "A user declined an invitation.",
            members: """
                "required": ["invitee", "inviter", "membership", "channel"],
                "properties": {
                  "invitee": {"$ref": "#/$defs/user", "description": "Who declined."},
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who had invited; null for an operator of the app."
                  },
                  "membership": {"$ref": "#/$defs/membership", "description": "The membership as it last was."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"invitee":{"id":"ben"},"inviter":{"id":"ana","name":"Ana"},"membership":\#(SharedTerms.ben),"#
                    + #""channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"inviter":{"id":"ana"}}"#, #"{"invitee":{"name":"Ben"}}"#]),
        BuiltInType(
            "member.joined", .kept, "A user joined a channel, by an invitation or unasked.",
            members: """
                "required": ["user", "users", "member_count", "joined_member_count", "membership", "channel"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "Who joined."},
                  "users": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/user"},
                    "description": "All who joined by the same call, by their ids."
                  },
                  "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members after it."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members after it."},
                  "membership": {"$ref": "#/$defs/membership"},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"users":[{"id":"ben"}],"member_count":3,"joined_member_count":2,"#
                    + #""membership":\#(SharedTerms.ben),"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"user":{"id":7}}"#, #"{"users":[{"id":"ben"}]}"#]),
        BuiltInType(
            "member.left", .kept, "A user left a channel, or was made to leave.",
            members: """
                "required": ["user", "reason", "member_count", "joined_member_count", "membership", "channel"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who left."},
                  "reason": {
                    "type": "string",
                    "description": "Why: `LEFT_BY_OWN_CHOICE`, `CHANNEL_OPERATOR_REMOVED`, `ADMIN_REMOVED`, …",
                    "examples": [
                      "LEFT_BY_OWN_CHOICE", "CHANNEL_OPERATOR_REMOVED", "ADMIN_REMOVED", "ADMIN_DELETED", "ADMIN_DEACTIVATED"
                    ]
                  },
                  "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members after it."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members after it."},
                  "membership": {"$ref": "#/$defs/membership", "description": "The membership as it last was."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"reason":"LEFT_BY_OWN_CHOICE","member_count":2,"joined_member_count":1,"#
                    + #""membership":\#(SharedTerms.ben),"channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"user":{"id":"ben"},"member_count":-1}"#]),
        BuiltInType(
            "membership.updated", .kept, "Fields of a membership changed.",
            members: """
                "required": ["user", "membership", "changes"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The member."},
                  "membership": {"$ref": "#/$defs/membership"},
                  "changes": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/change"},
                    "description": "What changed, by the membership's members."
                  }
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"membership":\#(SharedTerms.ben),"changes":[{"key":"status","new":"new"}]}"#
            ],
            refuses: [#"{"user":{"id":"ben"}}"#, #"{"user":{"id":"ben"},"membership":"ben","changes":[]}"#]),
        participant("participant.entered", "A user entered an open channel.", "entered_at"),
        participant("participant.exited", "A user left an open channel, or was gone for too long.", "exited_at"),
    ]

    private static func participant(_ name: String, _ description: String, _ moment: String) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "Who."},
                  "participant_count": {"$ref": "#/$defs/count", "description": "How many are inside after it."},
                  "\(moment)": {"$ref": "#/$defs/timestamp", "description": "When."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ana"},"participant_count":12,"\#(moment)":"2024-11-24T01:39:05.678901Z"}"#],
            refuses: [#"{"participant_count":12}"#])
    }
}
