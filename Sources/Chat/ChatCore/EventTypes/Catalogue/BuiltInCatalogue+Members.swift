import ChatModel

extension BuiltInCatalogue {
    /// The types of events about a channel's memberships, and about users who enter and leave the channel.
    static let members: [BuiltInType] = [
        BuiltInType(
            "member.invited", .kept,
            "Users were invited to a channel. The event is also sent on each invited user's own channel.",
            members: """
                "required": ["channel", "inviter"],
                "properties": {
                  "channel": {
                    "description": "The channel's record; only its id and kind if a PubNub SDK published the invitation.",
                    "type": "object",
                    "required": ["id", "kind"],
                    "if": {"required": ["etag"]},
                    "then": {"$ref": "#/$defs/channel"},
                    "properties": {"id": {"type": "string", "minLength": 1, "description": "The channel's id."}}
                  },
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "The user who sent the invitations; null if an operator of the app sent the invitations."
                  },
                  "invitees": {"type": "array", "items": {"$ref": "#/$defs/user"}, "description": "The invited users."},
                  "memberships": {
                    "type": "array", "items": {"$ref": "#/$defs/membership"},
                    "description": "The memberships of the invited users, in the same order; a user in state `joined` need not accept the invitation."
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
                  "invitee": {"$ref": "#/$defs/user", "description": "The user who declined."},
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "The user who sent the invitation; null if an operator of the app sent the invitation."
                  },
                  "membership": {"$ref": "#/$defs/membership", "description": "The membership before it ended."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"invitee":{"id":"ben"},"inviter":{"id":"ana","name":"Ana"},"membership":\#(SharedTerms.ben),"#
                    + #""channel":\#(SharedTerms.crew)}"#
            ],
            refuses: [#"{"inviter":{"id":"ana"}}"#, #"{"invitee":{"name":"Ben"}}"#]),
        BuiltInType(
            "member.joined", .kept, "A user joined a channel, with or without an invitation.",
            members: """
                "required": ["user", "users", "member_count", "joined_member_count", "membership", "channel"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who joined."},
                  "users": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/user"},
                    "description": "All users who joined in the same request. Each element contains only the user's id."
                  },
                  "member_count": {"$ref": "#/$defs/count", "description": "The number of members after the event, invited ones included."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "The number of joined members after the event."},
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
            "member.left", .kept, "A user left a channel or was removed from it.",
            members: """
                "required": ["user", "reason", "member_count", "joined_member_count", "membership", "channel"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who left or was removed."},
                  "reason": {
                    "type": "string",
                    "description": "The reason why the membership ended: the reason that the moderator gave, or `LEFT_BY_OWN_CHOICE`, `CHANNEL_OPERATOR_REMOVED`, `ADMIN_REMOVED`, …",
                    "examples": [
                      "LEFT_BY_OWN_CHOICE", "CHANNEL_OPERATOR_REMOVED", "ADMIN_REMOVED", "ADMIN_DELETED", "ADMIN_DEACTIVATED"
                    ]
                  },
                  "member_count": {"$ref": "#/$defs/count", "description": "The number of members after the event, invited ones included."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "The number of joined members after the event."},
                  "membership": {"$ref": "#/$defs/membership", "description": "The membership before it ended."},
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
                    "description": "The changed fields of the membership."
                  }
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"membership":\#(SharedTerms.ben),"changes":[{"key":"status","new":"new"}]}"#
            ],
            refuses: [#"{"user":{"id":"ben"}}"#, #"{"user":{"id":"ben"},"membership":"ben","changes":[]}"#]),
        participant("participant.entered", "A user entered an open channel.", "entered_at"),
        participant("participant.exited", "A user left an open channel or was disconnected for too long.", "exited_at"),
    ]

    private static func participant(_ name: String, _ description: String, _ moment: String) -> BuiltInType {
        BuiltInType(
            name, .passing, description,
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "The user who entered or left the channel."},
                  "participant_count": {"$ref": "#/$defs/count", "description": "The number of users inside the channel after the event."},
                  "\(moment)": {"$ref": "#/$defs/timestamp", "description": "Time of the event."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ana"},"participant_count":12,"\#(moment)":"2024-11-24T01:39:05.678901Z"}"#],
            refuses: [#"{"participant_count":12}"#])
    }
}
