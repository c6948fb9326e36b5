import ChatModel

extension BuiltInCatalogue {
    /// Reports of the gateway about itself, on the channel `$system`.
    static let reports: [BuiltInType] = [
        BuiltInType(
            "webhook.failing", .kept, "Deliveries to a webhook have been failing for some time.",
            members: """
                "required": ["webhook", "failing_since"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "failing_since": {"type": "string", "format": "date-time", "description": "Time of the first failure."},
                  "error": {"type": "string", "description": "The class of the last failure."},
                  "status": {"type": "integer", "description": "The status of the last answer, if there was one."}
                }
                """,
            accepts: [
                #"{"webhook":"wh_1","failing_since":"2024-11-24T01:39:05.678901Z","error":"http_status","status":503}"#
            ],
            refuses: [#"{"webhook":"wh_1","failing_since":1732412345678}"#, #"{"webhook":"wh_1"}"#]),
        BuiltInType(
            "webhook.disabled", .kept, "A webhook no longer receives deliveries.",
            members: """
                "required": ["webhook", "reason"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "reason": {"type": "string", "description": "Why it was disabled."}
                }
                """,
            accepts: [#"{"webhook":"wh_1","reason":"the receiver answered 410"}"#],
            refuses: [#"{"webhook":"wh_1"}"#]),
        BuiltInType(
            "webhook.recovered", .kept, "Deliveries to a failing webhook succeed again.",
            members: """
                "required": ["webhook"],
                "properties": {"webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."}}
                """,
            accepts: [#"{"webhook":"wh_1"}"#], refuses: [#"{"webhook":null}"#, "{}"]),
        BuiltInType(
            "webhook.overflowing", .kept,
            "More deliveries wait for a webhook than allowed: further deliveries are lost.",
            members: """
                "required": ["webhook", "dead"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The id of the webhook or subscription."},
                  "dead": {"$ref": "#/$defs/count", "description": "Deliveries lost since the last such report on it."}
                }
                """,
            accepts: [#"{"webhook":"wh_1","dead":17}"#], refuses: [#"{"webhook":"wh_1"}"#, #"{"dead":1}"#]),
        BuiltInType(
            "webhook.test", .passing, "A test of a webhook. Only the webhook itself receives it.",
            members: """
                "required": ["webhook"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "message": {"type": "string", "description": "A sentence for the reader."}
                }
                """,
            accepts: [#"{"webhook":"wh_1","message":"This is a test. Nothing has happened."}"#], refuses: ["{}"]),
        BuiltInType(
            "source.rejected", .kept, "A post of a verified sender to a source was rejected.",
            members: """
                "required": ["source", "reason"],
                "properties": {
                  "source": {"type": "string", "minLength": 1, "description": "The source's id."},
                  "reason": {"type": "string", "description": "What was wrong, in a sentence."},
                  "code": {"type": "string", "description": "The problem's code, if it has one."},
                  "errors": {"type": "array", "items": {"type": "string"}, "description": "Place and fault, one each."},
                  "unreported_before": {"$ref": "#/$defs/count", "description": "Earlier rejections that were not reported."}
                }
                """,
            accepts: [
                ##"{"source":"github-main","reason":"no value","code":"mapping_failed","errors":["#/sender: absent"]}"##
            ],
            refuses: [#"{"source":"github-main"}"#, #"{"source":"github-main","reason":"no value","errors":"none"}"#]),
        BuiltInType(
            "schema.violated", .kept, "Events were accepted although their data violates the schema of their type.",
            members: """
                "required": ["event_type", "errors"],
                "properties": {
                  "event_type": {"type": "string", "minLength": 1, "description": "The type of the events."},
                  "schema_version": {"$ref": "#/$defs/count", "description": "The version of the schema that they violate."},
                  "count": {"$ref": "#/$defs/count", "description": "The number since the last such report on the type."},
                  "event": {"type": "string", "description": "The id of the last of them."},
                  "channel": {"type": "string", "description": "The channel of the last of them."},
                  "errors": {
                    "type": "array",
                    "description": "What is wrong with the last of them.",
                    "items": {
                      "type": "object",
                      "required": ["pointer", "detail"],
                      "properties": {
                        "pointer": {"type": "string", "description": "The place in the data: `#` and a JSON Pointer."},
                        "keyword": {"type": "string", "description": "The keyword of the schema that refuses it."},
                        "detail": {"type": "string", "description": "What is wrong, in a sentence."}
                      }
                    }
                  }
                }
                """,
            accepts: [
                #"{"event_type":"order.paid","schema_version":3,"count":1,"event":"evt_17324123456789012","#
                    + ##""errors":[{"pointer":"#/amount","keyword":"type","detail":"expected integer, got string"}]}"##
            ],
            refuses: [#"{"event_type":"order.paid"}"#, #"{"event_type":"order.paid","errors":["expected integer"]}"#]),
        BuiltInType(
            "schema.unusable", .kept, "A stored schema cannot be used: events of its type cannot be checked.",
            members: """
                "required": ["event_type", "schema_version", "reason"],
                "properties": {
                  "event_type": {"type": "string", "minLength": 1, "description": "The type; in mode `enforce` it is refused."},
                  "schema_version": {"$ref": "#/$defs/count", "description": "The version that cannot be used."},
                  "reason": {"type": "string", "description": "Why, in a sentence."}
                }
                """,
            accepts: [#"{"event_type":"order.paid","schema_version":3,"reason":"its record cannot be understood"}"#],
            refuses: [#"{"event_type":"order.paid","schema_version":3}"#, #"{"reason":"unknown"}"#]),
        BuiltInType(
            "key.expiring", .kept, "An API key will expire soon.",
            members: """
                "required": ["key", "expires_at"],
                "properties": {
                  "key": {"type": "string", "minLength": 1, "description": "The key's id, not the key."},
                  "name": {"type": "string", "description": "The name it was given."},
                  "expires_at": {"type": "string", "format": "date-time", "description": "From when it is refused."}
                }
                """,
            accepts: [#"{"key":"key_1","name":"ci","expires_at":"2024-12-01T00:00:00Z"}"#],
            refuses: [#"{"key":"key_1"}"#, #"{"key":"key_1","expires_at":null}"#]),
        BuiltInType(
            "stream.lagged", .kept, "Streams were closed because their readers were too slow.",
            members: """
                "required": ["count"],
                "properties": {
                  "count": {"type": "integer", "minimum": 1, "description": "The number since the last such report."},
                  "stream": {"type": "string", "description": "The id of the last of them."},
                  "key": {"type": "string", "description": "The id of the key with which it was opened."}
                }
                """,
            accepts: [#"{"count":1,"stream":"str_7","key":"key_1"}"#],
            refuses: [#"{"count":0}"#, #"{"stream":"str_7"}"#]),
        BuiltInType(
            "system.disk_low", .kept, "Little disk space is left for the data.",
            members: """
                "required": ["free_bytes"],
                "properties": {
                  "free_bytes": {"$ref": "#/$defs/count", "description": "Bytes that can still be written."},
                  "total_bytes": {"$ref": "#/$defs/count", "description": "Bytes of the whole file system."},
                  "threshold_bytes": {"$ref": "#/$defs/count", "description": "The number of free bytes below which this is reported."}
                }
                """,
            accepts: [#"{"free_bytes":734003200,"total_bytes":64424509440,"threshold_bytes":1073741824}"#],
            refuses: [#"{"free_bytes":"700 MB"}"#, "{}"]),
    ]
}
