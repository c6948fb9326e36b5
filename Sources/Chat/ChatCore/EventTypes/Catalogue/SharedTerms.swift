/// Definitions that several built-in schemas use. Each schema is complete in itself, so they are copied into it.
enum SharedTerms {
    /// The `$defs` keyword with the terms that `keywords` name, directly or through each other; nothing if none.
    static func definitions(for keywords: String) -> [String] {
        var needed: [String] = []
        var text = keywords
        // A term names only terms below it, so one pass finds them all.
        for (name, definition) in terms where text.contains("\"#/$defs/\(name)\"") {
            needed.append("\"\(name)\": {\n\(indented(definition))\n}")
            text += definition
        }
        guard !needed.isEmpty else { return [] }
        return ["\"$defs\": {\n\(indented(needed.joined(separator: ",\n")))\n}"]
    }

    static func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    }

    /// A channel for the examples of types that show one.
    static let crew =
        #"{"id":"crew","kind":"group","name":"Crew","description":null,"custom_type":"work","cover_url":null,"#
        + #""type":null,"status":null,"data":null,"custom":{"floor":3},"frozen":false,"operators":["ana"],"#
        + #""distinct":false,"pinned_timetoken":null,"created_by":"ana","created_timetoken":"17324123456789012","member_count":2,"#
        + #""joined_member_count":1,"created_at":"2024-11-24T01:39:05.678901Z","etag":"8c1f0b2d4e6a7931","#
        + #""updated_at":"2024-11-24T01:39:05.678901Z"}"#

    /// A membership for the examples of types that show one.
    static let ben =
        #"{"user":"ben","channel":"crew","state":"joined","role":"none","inviter":"ana","#
        + #""invited_timetoken":"17324123456789012","joined_timetoken":"17324123456789033","type":null,"status":"new","#
        + #""custom":null,"read_timetoken":null,"delivered_timetoken":null,"created_at":"2024-11-24T01:39:05.678901Z","#
        + #""etag":"8c1f0b2d4e6a7931","updated_at":"2024-11-24T01:39:05.678903Z"}"#

    private static let terms: [(name: String, definition: String)] = [
        (
            "membership",
            """
            "description": "The membership as `GET /v1/channels/{channel}/members/{user}` shows it, without `hidden` and `push`.",
            "type": "object",
            "required": [
              "user", "channel", "state", "role", "inviter", "invited_timetoken", "joined_timetoken", "type", "status", "custom",
              "read_timetoken", "delivered_timetoken", "created_at", "etag", "updated_at"
            ],
            "properties": {
              "user": {"type": "string", "minLength": 1, "description": "The member."},
              "channel": {"type": "string", "minLength": 1, "description": "The channel."},
              "state": {"enum": ["invited", "joined"], "description": "Whether the invitation has been accepted."},
              "role": {"enum": ["operator", "none"], "description": "What the member may do in the channel."},
              "inviter": {"type": ["string", "null"], "description": "Who invited the member; null for an operator of the app."},
              "invited_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "When the member was invited; null without an invitation."
              },
              "joined_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "When the member joined; null while invited."
              },
              "type": {"type": ["string", "null"], "description": "A kind, in the app's own words."},
              "status": {"type": ["string", "null"], "description": "A state, in the app's own words."},
              "custom": {"type": ["object", "null"], "description": "Values of the app's own."},
              "read_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The newest message that the member has read."
              },
              "delivered_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The newest message that a device of the member has received."
              },
              "hidden": {"type": ["object", "null"], "description": "How the user hides the channel; in `channel.hidden` alone."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "When the user was invited, or joined uninvited."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "When the record last changed."}
            }
            """
        ),
        (
            "user_record",
            """
            "description": "A user's record, as `GET /v1/users/{user}` shows it, without fields that the app keeps private.",
            "type": "object",
            "required": [
              "id", "name", "profile_url", "auto_accepts_invites", "created_timetoken", "created_at", "etag", "updated_at"
            ],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The user's id."},
              "name": {"type": ["string", "null"], "description": "The name to show."},
              "profile_url": {"type": ["string", "null"], "description": "Where the picture is."},
              "email": {"type": ["string", "null"], "description": "The mail address."},
              "external_id": {"type": ["string", "null"], "description": "The user's id in another system."},
              "type": {"type": ["string", "null"], "description": "A kind, in the app's own words."},
              "status": {"type": ["string", "null"], "description": "A state, in the app's own words."},
              "custom": {"type": ["object", "null"], "description": "Values of the app's own."},
              "metadata": {"type": "object", "description": "Texts by key."},
              "auto_accepts_invites": {"type": "boolean", "description": "Invitations make the user a member at once."},
              "created_timetoken": {"$ref": "#/$defs/timetoken", "description": "When the record was made."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The same moment as a time."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "When the record last changed."}
            }
            """
        ),
        (
            "user",
            """
            "description": "A user: the members of the user's record that every reader sees. Only the id is certain.",
            "type": "object",
            "required": ["id"],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The user's id."},
              "name": {"type": "string", "description": "The name to show; absent if there is none."},
              "profile_url": {"type": "string", "description": "Where the picture is; absent if there is none."}
            }
            """
        ),
        (
            "restriction",
            """
            "description": "The restriction as `GET /v1/channels/{channel}/restrictions/{user}` shows it; one that was lifted as it \
            last was, with `ban` and `mute` as they are now.",
            "type": "object",
            "required": ["user", "channel", "ban", "mute", "reason"],
            "properties": {
              "user": {"type": "string", "minLength": 1, "description": "The restricted user."},
              "channel": {"type": "string", "minLength": 1, "description": "The channel."},
              "ban": {"type": "boolean", "description": "True while the user may not be in the channel."},
              "mute": {"type": "boolean", "description": "True while the user may not write in it."},
              "reason": {"type": ["string", "null"], "description": "In the moderator's words."},
              "moderator": {"type": ["string", "null"], "description": "Who set it; null for an operator of the app."},
              "since_timetoken": {"$ref": "#/$defs/timetoken", "description": "Since when."},
              "until_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "Its end; null for one that lasts until it is lifted."
              },
              "until": {
                "anyOf": [{"$ref": "#/$defs/timestamp"}, {"type": "null"}],
                "description": "The moment of `until_timetoken` as a time."
              },
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The moment of `since_timetoken` as a time."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "When the record last changed."}
            }
            """
        ),
        (
            "block",
            """
            "description": "A block, as `GET /v1/users/{user}/blocks` lists it.",
            "type": "object",
            "required": ["user", "blocked", "since_timetoken", "created_at"],
            "properties": {
              "user": {"type": "string", "minLength": 1, "description": "The user who blocks."},
              "blocked": {"type": "string", "minLength": 1, "description": "The user who is blocked."},
              "since_timetoken": {"$ref": "#/$defs/timetoken", "description": "Since when."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The same moment as a time."}
            }
            """
        ),
        (
            "channel",
            """
            "description": "The channel as `GET /v1/channels/{channel}` shows it after the event, or as it was when it was deleted.",
            "type": "object",
            "required": [
              "id", "kind", "name", "description", "custom_type", "cover_url", "type", "status", "data", "custom", "frozen",
              "operators", "distinct", "pinned_timetoken", "created_by", "created_timetoken", "created_at", "etag", "updated_at"
            ],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The channel's id."},
              "kind": {"enum": ["direct", "group", "public", "open"], "description": "Who may be in it and who hears it."},
              "name": {"type": ["string", "null"], "description": "The name to show."},
              "description": {"type": ["string", "null"], "description": "What the channel is about."},
              "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
              "cover_url": {"type": ["string", "null"], "description": "Where the picture is."},
              "type": {"type": ["string", "null"], "description": "A kind, in the app's own words."},
              "status": {"type": ["string", "null"], "description": "A state, in the app's own words."},
              "data": {"description": "Whatever the app keeps with the channel, most often text."},
              "custom": {"type": ["object", "null"], "description": "Values of the app's own."},
              "frozen": {"type": "boolean", "description": "True while only operators may write."},
              "operators": {"type": "array", "items": {"type": "string"}, "description": "The users who moderate it."},
              "pair": {"type": "array", "items": {"type": "string"}, "description": "The two of a direct channel."},
              "distinct": {
                "type": "boolean",
                "description": "True while creating a distinct channel of its members returns this one."
              },
              "pinned_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The message that is shown first; null if none is pinned."
              },
              "created_by": {"type": ["string", "null"], "description": "The user who made it; null for an operator of the app."},
              "created_timetoken": {"$ref": "#/$defs/timetoken", "description": "When the record was made."},
              "member_count": {"$ref": "#/$defs/count", "description": "Invited and joined members; absent for open channels."},
              "joined_member_count": {"$ref": "#/$defs/count", "description": "Joined members; absent for open channels."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The moment of `created_timetoken` as a time."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`; counts are not part of it."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "When the record last changed."}
            }
            """
        ),
        (
            "change",
            """
            "description": "One field of a record, before and after.",
            "type": "object",
            "required": ["key"],
            "properties": {
              "key": {"type": "string", "minLength": 1, "description": "The field."},
              "old": {"description": "Its value before; absent if it had none."},
              "new": {"description": "Its value after; absent if it has none."}
            }
            """
        ),
        (
            "timetoken",
            """
            "description": "The position of an event: 17 decimal digits, as a string.",
            "type": "string",
            "pattern": "^[0-9]{1,19}$"
            """
        ),
        (
            "message_id",
            """
            "description": "The number of a message, as clients know it that count messages.",
            "type": "integer",
            "minimum": 0
            """
        ),
        (
            "timestamp",
            """
            "description": "A time: RFC 3339, UTC, to the microsecond.",
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\.[0-9]{6}Z$"
            """
        ),
        (
            "milliseconds",
            """
            "description": "Milliseconds since 1970, UTC.",
            "type": "integer"
            """
        ),
        (
            "count",
            """
            "description": "How many.",
            "type": "integer",
            "minimum": 0
            """
        ),
    ]
}
