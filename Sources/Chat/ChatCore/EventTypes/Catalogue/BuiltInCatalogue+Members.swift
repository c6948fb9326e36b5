import ChatModel

extension BuiltInCatalogue {
    /// Who belongs to a channel, and who is inside.
    static let members: [BuiltInType] = [
        BuiltInType(
            "member.invited", .kept, "Users were invited to a channel. Also on the channel of each who is invited.",
            members: """
                "required": ["channel_id"],
                "properties": {
                  "channel_id": {"type": "string", "minLength": 1, "description": "Where to."},
                  "channel_type": {"type": ["string", "null"], "description": "`direct`, `group`, `public`, or another kind."},
                  "invited_by_user_id": {"type": ["string", "null"], "description": "Who invited; null for an operator."},
                  "invitation_timetoken": {"$ref": "#/$defs/timetoken", "description": "When, as a position."},
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who invited; null for an operator."
                  },
                  "invitees": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/member"},
                    "description": "Who is invited; a state `joined` needs no answer."
                  },
                  "invited_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"channel_id":"room.1","channel_type":"group","invited_by_user_id":"ana"}"#,
                #"{"channel_id":"crew","inviter":null,"invitees":[{"id":"ben","state":"invited"}],"#
                    + #""invited_at":1732412345678}"#,
            ],
            refuses: [#"{"channel_type":"group"}"#, #"{"channel_id":"crew","invitees":["ben"]}"#]),
        BuiltInType(
            "member.declined", .kept, "A user declined an invitation.",
            members: """
                "required": ["invitee"],
                "properties": {
                  "invitee": {"$ref": "#/$defs/member", "description": "Who declined."},
                  "inviter": {
                    "anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}],
                    "description": "Who had invited; null for an operator."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"invitee":{"id":"ben"},"inviter":{"id":"ana"}}"#],
            refuses: [#"{"inviter":{"id":"ana"}}"#, #"{"invitee":{"name":"Ben"}}"#]),
        BuiltInType(
            "member.joined", .kept, "A user joined a channel, by an invitation or unasked.",
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "Who joined."},
                  "users": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/user"},
                    "description": "All who joined by the same call."
                  },
                  "joined_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members after it."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members after it."},
                  "type": {"type": ["string", "null"], "description": "A kind of membership, in the app's own words."},
                  "status": {"type": ["string", "null"], "description": "A state, in the app's own words."},
                  "custom": {"type": ["object", "null"], "description": "Values of the app's own."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [
                #"{"user":{"id":"ben"},"users":[{"id":"ben"}],"joined_at":1732412345678,"member_count":3,"#
                    + #""joined_member_count":2}"#
            ],
            refuses: [#"{"user":{"id":7}}"#, #"{"users":[{"id":"ben"}]}"#]),
        BuiltInType(
            "member.left", .kept, "A user left a channel, or was made to leave.",
            members: """
                "required": ["user"],
                "properties": {
                  "user": {"$ref": "#/$defs/user", "description": "Who is no member any more."},
                  "reason": {
                    "type": ["string", "null"],
                    "description": "Why: `LEFT_BY_OWN_CHOICE`, `CHANNEL_OPERATOR_REMOVED`, `ADMIN_REMOVED`, …",
                    "examples": [
                      "LEFT_BY_OWN_CHOICE", "CHANNEL_OPERATOR_REMOVED", "ADMIN_REMOVED", "ADMIN_DELETED", "ADMIN_DEACTIVATED"
                    ]
                  },
                  "left_at": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members after it."},
                  "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members after it."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ben"},"reason":"LEFT_BY_OWN_CHOICE","member_count":2}"#],
            refuses: [#"{"user":{"id":"ben"},"member_count":-1}"#]),
        BuiltInType(
            "membership.updated", .kept, "Fields of a membership changed.",
            members: """
                "required": ["user_id", "channel_id"],
                "properties": {
                  "user_id": {"type": "string", "minLength": 1, "description": "The member."},
                  "channel_id": {"type": "string", "minLength": 1, "description": "The channel."},
                  "type": {"type": ["string", "null"], "description": "A kind, in the app's own words."},
                  "status": {"type": ["string", "null"], "description": "A state, in the app's own words."},
                  "custom": {"type": ["object", "null"], "description": "Values of the app's own."},
                  "changes": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/change"},
                    "description": "What changed."
                  },
                  "etag": {"type": "string", "description": "The record's version."}
                }
                """,
            accepts: [#"{"user_id":"ana","channel_id":"room.1","status":"pending","custom":{"starred":true}}"#],
            refuses: [#"{"user_id":"ana"}"#, #"{"user_id":"ana","channel_id":"room.1","custom":"starred"}"#]),
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
                  "\(moment)": {"$ref": "#/$defs/milliseconds", "description": "When, in milliseconds since 1970."},
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"user":{"id":"ana"},"participant_count":12,"\#(moment)":1732412345678}"#],
            refuses: [#"{"participant_count":12}"#])
    }
}
