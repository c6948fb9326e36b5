/// Schema definitions that several built-in schemas use. Each of these schemas contains a copy of the definitions that
/// it uses.
enum SharedTerms {
    /// Returns the `$defs` keyword with the terms to which `keywords` refers, directly or through other terms; empty
    /// when `keywords` refers to no term.
    static func definitions(for keywords: String) -> [String] {
        var needed: [String] = []
        var text = keywords
        // A term refers only to terms after it in the list, so one pass finds all terms.
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

    /// A channel in JSON, for the examples of event types whose events contain a channel.
    static let crew =
        #"{"id":"crew","kind":"group","name":"Crew","description":null,"custom_type":"work","cover_url":null,"#
        + #""type":null,"status":null,"data":null,"custom":{"floor":3},"frozen":false,"operators":["ana"],"#
        + #""distinct":false,"pinned_timetoken":null,"created_by":"ana","created_timetoken":"17324123456789012","member_count":2,"#
        + #""joined_member_count":1,"created_at":"2024-11-24T01:39:05.678901Z","etag":"8c1f0b2d4e6a7931","#
        + #""updated_at":"2024-11-24T01:39:05.678901Z"}"#

    /// A membership in JSON, for the examples of event types whose events contain a membership.
    static let ben =
        #"{"id":"ben/crew","user":"ben","channel":"crew","state":"joined","role":"none","inviter":"ana","#
        + #""invited_timetoken":"17324123456789012","joined_timetoken":"17324123456789033","type":null,"status":"new","#
        + #""custom":null,"read_timetoken":null,"delivered_timetoken":null,"created_at":"2024-11-24T01:39:05.678901Z","#
        + #""etag":"8c1f0b2d4e6a7931","updated_at":"2024-11-24T01:39:05.678903Z"}"#

    /// A message in JSON, for the examples of event types whose events contain a message.
    static let hello = message(#"{"text":"hello"}"#)

    /// Returns a message in JSON for the examples, optionally with an edit or a deletion.
    static func message(_ data: String, edited: String = "null", deleted: String = "null") -> String {
        let parts: [String] = [
            #"{"id":"evt_17324123456789012","timetoken":"17324123456789012","type":"message.created","kind":"message","#,
            #""channel":"crew","user":"ana","data":\#(data),"meta":null,"custom_type":null,"#,
            #""edited":\#(edited),"deleted":\#(deleted),"thread_of":null,"thread":null,"reactions":{},"#,
            #""created_at":"2024-11-24T01:39:05.678901Z","etag":"8c1f0b2d4e6a7931","#,
            #""updated_at":"2024-11-24T01:39:05.678901Z"}"#,
        ]
        return parts.joined()
    }

    /// The author and time of an edit or a deletion in JSON, for the examples.
    static let actorAndTime = #"{"timetoken":"17324123999999999","by":"ana"}"#

    /// Returns a message action in JSON, for the examples of event types whose events contain an action.
    static func action(_ type: String, _ value: String) -> String {
        #"{"id":"17324123456789012/17324123999999999","channel":"crew","message_timetoken":"17324123456789012","#
            + #""type":"\#(type)","value":"\#(value)","#
            + #""user":"ben","action_timetoken":"17324123999999999"}"#
    }

    private static let terms: [(name: String, definition: String)] = [
        (
            "message_reference",
            """
            "description": "The message, as `GET /v1/channels/{channel}/messages/{timetoken}` shows it. Without `etag`, \
            the object is only a reference: the recipient may not read the message yet, the message is not stored, or a \
            PubNub SDK sent the event.",
            "type": "object",
            "required": ["timetoken", "channel"],
            "if": {"required": ["etag"]},
            "then": {"$ref": "#/$defs/message"},
            "properties": {
              "timetoken": {"$ref": "#/$defs/timetoken", "description": "The message's position in the channel."},
              "channel": {"type": "string", "minLength": 1, "description": "The message's channel."},
              "user": {"type": ["string", "null"], "description": "The author."}
            }
            """
        ),
        (
            "message",
            """
            "description": "The message as `GET /v1/channels/{channel}/messages/{timetoken}` shows it after the event.",
            "type": "object",
            "required": [
              "id", "timetoken", "type", "kind", "channel", "user", "data", "meta", "custom_type", "edited", "deleted",
              "thread_of", "thread", "reactions", "created_at", "etag", "updated_at"
            ],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The id of the event that created the message."},
              "timetoken": {"$ref": "#/$defs/timetoken", "description": "The message's position in the channel."},
              "type": {"type": "string", "description": "The type of the event that created the message: `message.created` or a custom type."},
              "kind": {"enum": ["message", "signal", "action", "file", "presence", "other"], "description": "The kind of the event that created the message."},
              "channel": {"type": "string", "minLength": 1, "description": "The message's channel."},
              "user": {"type": ["string", "null"], "description": "The author; null if a program of the app sent the message."},
              "data": {"description": "The current content; null after a deletion."},
              "meta": {"description": "The metadata; null if there is none, and after a deletion."},
              "custom_type": {"type": ["string", "null"], "description": "A label that the sender chose; null if there is none."},
              "edited": {"anyOf": [{"$ref": "#/$defs/deed"}, {"type": "null"}], "description": "The newest edit; null if the message was not edited."},
              "deleted": {"anyOf": [{"$ref": "#/$defs/deed"}, {"type": "null"}], "description": "The deletion; null if the message is not deleted."},
              "thread_of": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The timetoken of the message to which this message replies; null if this message is not a reply."
              },
              "thread": {
                "anyOf": [{"$ref": "#/$defs/thread"}, {"type": "null"}], "description": "A summary of the replies; null if there are no replies."
              },
              "reactions": {
                "type": "object", "additionalProperties": {"$ref": "#/$defs/count"},
                "description": "The number of users for each reaction."
              },
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The time of `timetoken`, in RFC 3339 format."},
              "etag": {"type": "string", "description": "The message's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "Time of the last change, or `created_at` if the message was never changed."}
            }
            """
        ),
        (
            "action",
            """
            "description": "An action on a message, as `GET …/messages/{timetoken}/actions` lists it.",
            "type": "object",
            "required": ["id", "channel", "message_timetoken", "type", "value", "user", "action_timetoken"],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The id: `{message_timetoken}/{action_timetoken}`."},
              "channel": {"type": "string", "minLength": 1, "description": "The message's channel."},
              "message_timetoken": {"$ref": "#/$defs/timetoken", "description": "The timetoken of the message."},
              "type": {"type": "string", "minLength": 1, "description": "`reactions` for a reaction; otherwise the app's own type."},
              "value": {"type": "string", "minLength": 1, "description": "For a reaction, a key or an emoji; otherwise any text."},
              "user": {"type": "string", "description": "The user who attached the action."},
              "action_timetoken": {"$ref": "#/$defs/timetoken", "description": "The position of the event that added the action."}
            }
            """
        ),
        (
            "thread",
            """
            "description": "A summary of the replies to a message.",
            "type": "object",
            "required": ["reply_count", "authors", "last_reply_timetoken", "root", "channel"],
            "properties": {
              "reply_count": {"$ref": "#/$defs/count", "description": "The number of replies."},
              "authors": {
                "type": "array",
                "description": "The authors with the most replies, at most 20.",
                "items": {
                  "type": "object",
                  "required": ["user", "replies"],
                  "properties": {
                    "user": {"type": "string", "description": "The author."},
                    "replies": {"$ref": "#/$defs/count", "description": "The number of the author's replies."}
                  }
                }
              },
              "last_reply_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}], "description": "The timetoken of the newest reply; null if there are no replies."
              },
              "root": {"type": ["string", "null"], "description": "The author of the parent message."},
              "channel": {"type": ["string", "null"], "description": "The channel that PubNub SDKs use for the thread."}
            }
            """
        ),
        (
            "deed",
            """
            "description": "An edit or a deletion of a message.",
            "type": "object",
            "required": ["timetoken", "by"],
            "properties": {
              "timetoken": {"$ref": "#/$defs/timetoken", "description": "The timetoken of the change."},
              "by": {"type": ["string", "null"], "description": "The user who made the change; null if an operator of the app made the change."}
            }
            """
        ),
        (
            "membership",
            """
            "description": "The membership as `GET /v1/channels/{channel}/members/{user}` shows it, without `hidden` and `push`.",
            "type": "object",
            "required": [
              "id", "user", "channel", "state", "role", "inviter", "invited_timetoken", "joined_timetoken", "type", "status", "custom",
              "read_timetoken", "delivered_timetoken", "created_at", "etag", "updated_at"
            ],
            "properties": {
              "id": {"type": "string", "description": "The user's id and the channel's id, joined by `/`."},
              "user": {"type": "string", "minLength": 1, "description": "The member."},
              "channel": {"type": "string", "minLength": 1, "description": "The channel."},
              "state": {"enum": ["invited", "joined"], "description": "`invited` until the user accepts, then `joined`."},
              "role": {"enum": ["operator", "none"], "description": "`operator` if the member moderates the channel."},
              "inviter": {"type": ["string", "null"], "description": "The user who invited the member; null if an operator of the app invited the member."},
              "invited_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "Time of the invitation; null without an invitation."
              },
              "joined_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "Time of joining; null while the user is invited and has not joined."
              },
              "type": {"type": ["string", "null"], "description": "A type that the app defines."},
              "status": {"type": ["string", "null"], "description": "A status that the app defines."},
              "custom": {"type": ["object", "null"], "description": "Values that the app defines."},
              "read_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The timetoken of the newest message that the member has read."
              },
              "delivered_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The timetoken of the newest message that a device of the member has received."
              },
              "hidden": {"type": ["object", "null"], "description": "The settings for hiding the channel; present only in events of the type `channel.hidden`."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "Time of the invitation, or of joining if there was no invitation."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "Time of the last change."}
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
              "name": {"type": ["string", "null"], "description": "The display name."},
              "profile_url": {"type": ["string", "null"], "description": "The URL of the picture."},
              "email": {"type": ["string", "null"], "description": "The email address."},
              "external_id": {"type": ["string", "null"], "description": "The user's id in another system."},
              "type": {"type": ["string", "null"], "description": "A type that the app defines."},
              "status": {"type": ["string", "null"], "description": "A status that the app defines."},
              "custom": {"type": ["object", "null"], "description": "Values that the app defines."},
              "metadata": {"type": "object", "description": "Text values by key."},
              "auto_accepts_invites": {"type": "boolean", "description": "True if an invitation makes the user a member immediately."},
              "created_timetoken": {"$ref": "#/$defs/timetoken", "description": "Time when the record was created."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The time of `created_timetoken`, in RFC 3339 format."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "Time of the last change."}
            }
            """
        ),
        (
            "user",
            """
            "description": "A user, with the fields that every reader may see. Only `id` is always present.",
            "type": "object",
            "required": ["id"],
            "properties": {
              "id": {"type": "string", "minLength": 1, "description": "The user's id."},
              "name": {"type": "string", "description": "The display name; absent if there is none."},
              "profile_url": {"type": "string", "description": "The URL of the picture; absent if there is none."}
            }
            """
        ),
        (
            "restriction",
            """
            "description": "The restriction as `GET /v1/channels/{channel}/restrictions/{user}` shows it. When a \
            restriction has ended, `ban` and `mute` are false, and the other members have their last values.",
            "type": "object",
            "required": ["user", "channel", "ban", "mute", "reason"],
            "properties": {
              "id": {
                "type": "string",
                "description": "The user's id and the channel's id, joined by `/`; absent if a PubNub SDK published the event."
              },
              "user": {"type": "string", "minLength": 1, "description": "The restricted user."},
              "channel": {"type": "string", "minLength": 1, "description": "The channel."},
              "ban": {"type": "boolean", "description": "True while the user may not be in the channel."},
              "mute": {"type": "boolean", "description": "True while the user may not write in the channel."},
              "reason": {"type": ["string", "null"], "description": "The reason that the moderator gave."},
              "moderator": {"type": ["string", "null"], "description": "The user who set the restriction; null if an operator of the app set the restriction."},
              "since_timetoken": {"$ref": "#/$defs/timetoken", "description": "The start of the restriction."},
              "until_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The end of the restriction; null if it has none."
              },
              "until": {
                "anyOf": [{"$ref": "#/$defs/timestamp"}, {"type": "null"}],
                "description": "The time of `until_timetoken`, in RFC 3339 format."
              },
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The time of `since_timetoken`, in RFC 3339 format."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "Time of the last change."}
            }
            """
        ),
        (
            "block",
            """
            "description": "A block, as `GET /v1/users/{user}/blocks` lists it.",
            "type": "object",
            "required": ["id", "user", "blocked", "since_timetoken", "created_at"],
            "properties": {
              "id": {"type": "string", "description": "The ids of both users, joined by `/`."},
              "user": {"type": "string", "minLength": 1, "description": "The user who blocks."},
              "blocked": {"type": "string", "minLength": 1, "description": "The user who is blocked."},
              "since_timetoken": {"$ref": "#/$defs/timetoken", "description": "The start of the block."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The time of `since_timetoken`, in RFC 3339 format."}
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
              "kind": {"enum": ["direct", "group", "public", "open"], "description": "The kind of the channel, which determines who may join and who receives the events."},
              "name": {"type": ["string", "null"], "description": "The display name."},
              "description": {"type": ["string", "null"], "description": "The purpose of the channel."},
              "custom_type": {"type": ["string", "null"], "description": "A label for grouping channels."},
              "cover_url": {"type": ["string", "null"], "description": "The URL of the picture."},
              "type": {"type": ["string", "null"], "description": "A type that the app defines."},
              "status": {"type": ["string", "null"], "description": "A status that the app defines."},
              "data": {"description": "Any data that the app stores with the channel, usually text."},
              "custom": {"type": ["object", "null"], "description": "Values that the app defines."},
              "frozen": {"type": "boolean", "description": "True while only operators may write."},
              "operators": {"type": "array", "items": {"type": "string"}, "description": "The users who moderate the channel."},
              "pair": {"type": "array", "items": {"type": "string"}, "description": "The two users of a direct channel."},
              "distinct": {
                "type": "boolean",
                "description": "True if creating a distinct channel with the same members returns this channel."
              },
              "pinned_timetoken": {
                "anyOf": [{"$ref": "#/$defs/timetoken"}, {"type": "null"}],
                "description": "The timetoken of the pinned message; null if no message is pinned."
              },
              "created_by": {"type": ["string", "null"], "description": "The user who created the channel; null if an operator of the app created the channel."},
              "created_timetoken": {"$ref": "#/$defs/timetoken", "description": "Time when the record was created."},
              "member_count": {"$ref": "#/$defs/count", "description": "The number of members, invited ones included; absent for open channels."},
              "joined_member_count": {"$ref": "#/$defs/count", "description": "The number of joined members; absent for open channels."},
              "created_at": {"$ref": "#/$defs/timestamp", "description": "The time of `created_timetoken`, in RFC 3339 format."},
              "etag": {"type": "string", "description": "The record's version, for `If-Match`. A change of the counts does not change the version."},
              "updated_at": {"$ref": "#/$defs/timestamp", "description": "Time of the last change."}
            }
            """
        ),
        (
            "change",
            """
            "description": "A changed field of a record, with its old and new value.",
            "type": "object",
            "required": ["key"],
            "properties": {
              "key": {"type": "string", "minLength": 1, "description": "The name of the field."},
              "old": {"description": "The value before the change; absent if there was none."},
              "new": {"description": "The value after the change; absent if there is none."}
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
            "timestamp",
            """
            "description": "A time in RFC 3339 format: UTC, with microseconds.",
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\.[0-9]{6}Z$"
            """
        ),
        (
            "count",
            """
            "description": "A count, at least 0.",
            "type": "integer",
            "minimum": 0
            """
        ),
    ]
}
