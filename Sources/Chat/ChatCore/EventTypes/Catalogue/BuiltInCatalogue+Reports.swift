import ChatModel

extension BuiltInCatalogue {
    /// The types of events with which the gateway reports about itself, on the channel `$system`.
    static let reports: [BuiltInType] = [
        BuiltInType(
            "webhook.failing", .kept, "Deliveries to a webhook have been failing for some time.",
            members: """
                "required": ["webhook", "failing_since"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "failing_since": {"type": "string", "format": "date-time", "description": "Time of the first failure."},
                  "error": {"type": "string", "description": "The class of the last failure."},
                  "status": {"type": "integer", "description": "The HTTP status of the last response, if there was one."}
                }
                """,
            accepts: [
                #"{"webhook":"wh_1","failing_since":"2024-11-24T01:39:05.678901Z","error":"http_status","status":503}"#
            ],
            refuses: [#"{"webhook":"wh_1","failing_since":1732412345678}"#, #"{"webhook":"wh_1"}"#]),
        BuiltInType(
            "webhook.disabled", .kept, "A webhook was disabled and receives no more deliveries.",
            members: """
                "required": ["webhook", "reason"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "reason": {"type": "string", "description": "The reason why the webhook was disabled."}
                }
                """,
            accepts: [
                #"{"webhook":"wh_1","reason":"the receiver responded that its address is permanently gone (410)"}"#
            ],
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
            "Too many deliveries wait for a webhook or subscription; new deliveries become dead without an attempt.",
            members: """
                "required": ["webhook", "dead"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The id of the webhook or subscription."},
                  "dead": {"$ref": "#/$defs/count", "description": "The number of deliveries that became dead for this reason since the previous report on the webhook."}
                }
                """,
            accepts: [#"{"webhook":"wh_1","dead":17}"#], refuses: [#"{"webhook":"wh_1"}"#, #"{"dead":1}"#]),
        BuiltInType(
            "webhook.test", .passing, "The gateway tests a webhook on request. Only that webhook receives the event.",
            members: """
                "required": ["webhook"],
                "properties": {
                  "webhook": {"type": "string", "minLength": 1, "description": "The webhook's id."},
                  "message": {"type": "string", "description": "A sentence that explains the event."}
                }
                """,
            accepts: [#"{"webhook":"wh_1","message":"This is a test event."}"#], refuses: ["{}"]),
        BuiltInType(
            "source.rejected", .kept, "A source rejected a request from an authenticated sender.",
            members: """
                "required": ["source", "reason"],
                "properties": {
                  "source": {"type": "string", "minLength": 1, "description": "The source's id."},
                  "reason": {"type": "string", "description": "The reason why the source rejected the request, as one sentence."},
                  "code": {"type": "string", "description": "The `code` of the problem, if the problem has one."},
                  "errors": {"type": "array", "items": {"type": "string"}, "description": "The errors in the request, each with its place and description."},
                  "unreported_before": {"$ref": "#/$defs/count", "description": "The number of earlier rejections by the source for which no event was sent."}
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
                  "schema_version": {"$ref": "#/$defs/count", "description": "The version of the violated schema."},
                  "count": {"$ref": "#/$defs/count", "description": "The number of events that violated the schema since the previous report on the type."},
                  "event": {"type": "string", "description": "The id of the last event that violated the schema."},
                  "channel": {"type": "string", "description": "The channel of the last event that violated the schema."},
                  "errors": {
                    "type": "array",
                    "description": "The violations in the last event that violated the schema.",
                    "items": {
                      "type": "object",
                      "required": ["pointer", "detail"],
                      "properties": {
                        "pointer": {"type": "string", "description": "The place in the data: `#` and a JSON Pointer."},
                        "keyword": {"type": "string", "description": "The schema keyword that is violated."},
                        "detail": {"type": "string", "description": "The violation, as a sentence."}
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
            "schema.unusable", .kept, "A stored schema cannot be used, so events of its type cannot be checked.",
            members: """
                "required": ["event_type", "schema_version", "reason"],
                "properties": {
                  "event_type": {"type": "string", "minLength": 1, "description": "The event type. In mode `enforce`, the gateway rejects events of this type."},
                  "schema_version": {"$ref": "#/$defs/count", "description": "The version that cannot be used."},
                  "reason": {"type": "string", "description": "The reason why the schema version cannot be used, as one sentence."}
                }
                """,
            accepts: [
                #"{"event_type":"order.paid","schema_version":3,"reason":"this release of the gateway cannot read the stored schema version"}"#
            ],
            refuses: [#"{"event_type":"order.paid","schema_version":3}"#, #"{"reason":"unknown"}"#]),
        BuiltInType(
            "key.expiring", .kept, "An API key will expire soon.",
            members: """
                "required": ["key", "expires_at"],
                "properties": {
                  "key": {"type": "string", "minLength": 1, "description": "The key's id, not the key itself."},
                  "name": {"type": "string", "description": "The key's name."},
                  "expires_at": {"type": "string", "format": "date-time", "description": "Time from which the key is rejected."}
                }
                """,
            accepts: [#"{"key":"key_1","name":"ci","expires_at":"2024-12-01T00:00:00Z"}"#],
            refuses: [#"{"key":"key_1"}"#, #"{"key":"key_1","expires_at":null}"#]),
        BuiltInType(
            "stream.lagged", .kept, "Streams were closed because their readers were too slow.",
            members: """
                "required": ["count"],
                "properties": {
                  "count": {"type": "integer", "minimum": 1, "description": "The number of streams closed for this reason since the previous report."},
                  "stream": {"type": "string", "description": "The id of the stream that was closed last."},
                  "key": {"type": "string", "description": "The id of the key with which the stream that was closed last was opened."}
                }
                """,
            accepts: [#"{"count":1,"stream":"str_7","key":"key_1"}"#],
            refuses: [#"{"count":0}"#, #"{"stream":"str_7"}"#]),
        BuiltInType(
            "system.disk_low", .kept, "Little space is left on the file system of the data directory.",
            members: """
                "required": ["free_bytes"],
                "properties": {
                  "free_bytes": {"$ref": "#/$defs/count", "description": "Bytes that can still be written."},
                  "total_bytes": {"$ref": "#/$defs/count", "description": "The size of the file system in bytes."},
                  "threshold_bytes": {"$ref": "#/$defs/count", "description": "The number of free bytes below which this event is sent."}
                }
                """,
            accepts: [#"{"free_bytes":734003200,"total_bytes":64424509440,"threshold_bytes":1073741824}"#],
            refuses: [#"{"free_bytes":"700 MB"}"#, "{}"]),
    ]
}
