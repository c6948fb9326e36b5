/// The catalogue of the gateway's problems: the `title` of each problem, and the page to which its `type` points.
enum ProblemCatalogue {
    struct Entry: Sendable {
        let code: String
        let status: Int
        let title: String
        /// The cause of the problem, as text for human readers.
        let cause: String
        /// The remedy of the problem, as text for human readers.
        let remedy: String
    }

    /// The title of a code; nil for a code that is not listed.
    static func title(of code: String) -> String? { byCode[code]?.title }

    /// The entry of a code in the spelling of URLs, which replaces `_` by `-`; nil for an unknown code.
    static func entry(path: String) -> Entry? { byCode[String(path.map { $0 == "-" ? "_" : $0 })] }

    private static let byCode = Dictionary(uniqueKeysWithValues: entries.map { ($0.code, $0) })

    static let entries = common + members

    private static let common: [Entry] = [
        Entry(
            code: "malformed_request", status: 400, title: "The request is malformed",
            cause:
                "The request line, path, query, header or body cannot be parsed. For JSON, 'line' and "
                + "'column' give the place.",
            remedy: "Correct the syntax that the detail names and send the request again."),
        Entry(
            code: "unexpected_body", status: 400, title: "The request takes no body",
            cause: "The request has a body, but this method and path accept none.",
            remedy: "Send the request without a body; put the values into the path or the query."),
        Entry(
            code: "duplicate_name", status: 400, title: "A name occurs twice in one JSON object",
            cause: "A JSON object has the same member name twice, so it is unclear which value is meant.",
            remedy: "Send each member name only once."),
        Entry(
            code: "too_deep", status: 400, title: "The JSON is nested too deeply",
            cause:
                "Arrays and objects are nested deeper than the gateway accepts. The limit is 64 levels, unless "
                + "limits.json_depth sets another limit.",
            remedy: "Flatten the JSON, or send the inner part as a string."),
        Entry(
            code: "number_out_of_range", status: 400, title: "A number is out of range",
            cause: "A number is outside the range of a 64-bit integer or of a double.",
            remedy: "Send the number as a string."),
        Entry(
            code: "unknown_member", status: 400, title: "The body has an unknown member",
            cause:
                "The body has a member that the route does not know. Unknown members are rejected, so that a "
                + "mistyped name is not ignored.",
            remedy: "Use the name that the detail suggests, or leave the member out."),
        Entry(
            code: "member_missing", status: 400, title: "The body lacks a member",
            cause: "A required member is missing from the body, or the body is empty. The detail names the member.",
            remedy: "Send the member in the body; send {} for an object without members."),
        Entry(
            code: "parameter_missing", status: 400, title: "The query lacks a parameter",
            cause:
                "The query lacks a parameter that is required, such as 'by', the acting user. The detail names the parameter.",
            remedy: "Send the parameter in the query; the route takes no body."),
        Entry(
            code: "wrong_type", status: 400, title: "A member has the wrong JSON type",
            cause: "A member does not have the JSON type that the route expects. The pointer names the member.",
            remedy: "Send the type that the detail names."),
        Entry(
            code: "bad_member", status: 400, title: "A member has a value that is not accepted",
            cause: "A member has a value that is not accepted. The pointer names the member.",
            remedy: "Send a value that the detail describes."),
        Entry(
            code: "type_reserved", status: 400, title: "The event type is reserved",
            cause:
                "Built-in types, 'stream.…', 'system.…', 'error', 'open' and 'message' cannot be emitted or "
                + "declared.",
            remedy: "Use a name of your own, such as 'acme.user.created'."),
        Entry(
            code: "unknown_parameter", status: 400, title: "The query has an unknown parameter",
            cause:
                "The query has a parameter that the route does not know. Unknown parameters are rejected, "
                + "because a mistyped filter would return or delete more than intended.",
            remedy: "Use the name that the detail suggests, or leave the parameter out."),
        Entry(
            code: "bad_parameter", status: 400, title: "A parameter has a value that is not accepted",
            cause: "A parameter of the path or the query, or a header field, has a value that is not accepted.",
            remedy: "Send a value that the detail describes."),
        Entry(
            code: "bad_cursor", status: 400, title: "The cursor does not belong to this list",
            cause:
                "This list did not return the cursor, or the path or the filters differ from those of the first page.",
            remedy:
                "Send a cursor exactly as this list returned it, with the same path and the same filters. "
                + "To start from the first page, leave the cursor out."),
        Entry(
            code: "bad_pattern", status: 400, title: "The pattern cannot be read",
            cause: "A pattern of channels or event types is not valid.",
            remedy: "Send a name, 'a.b.*' for all names that begin with 'a.b.', or '*' for all names."),
        Entry(
            code: "bad_filter", status: 400, title: "The filter cannot be read",
            cause: "The filter expression cannot be parsed. The detail says what is wrong and at which column.",
            remedy: "Correct the expression; the guide /docs/filters describes the language."),
        Entry(
            code: "bad_cloud_event", status: 400, title: "The CloudEvent cannot be read",
            cause: "The CloudEvent lacks a required attribute, or an attribute has a value that is not accepted.",
            remedy:
                "Send CloudEvents 1.0 with specversion, id, source and type, and name the channel by subject "
                + "or ?channel=."),
        Entry(
            code: "bad_idempotency_key", status: 400, title: "The Idempotency-Key cannot be used",
            cause:
                "The header Idempotency-Key is not one value of 1 to 255 visible ASCII characters, or the "
                + "route does not accept it, because its response contains a credential.",
            remedy: "Send one key of this form, or leave the header out on that route."),
        Entry(
            code: "bad_precondition", status: 400, title: "The resource has no version to match",
            cause: "If-Match was sent to a route whose resource has no version.",
            remedy: "Leave If-Match out."),
        Entry(
            code: "bad_form", status: 400, title: "The body is not a form",
            cause: "The Content-Type is application/x-www-form-urlencoded, but the body is not a form.",
            remedy: "Encode the body as a form, or send its real Content-Type."),
        Entry(
            code: "url_refused", status: 400, title: "The URL is not allowed",
            cause:
                "The gateway does not send to this URL: its address is private, its port is not allowed, or it is not https.",
            remedy: "Use a public https URL, or ask the operator of the gateway to allow the address in webhook.allow."),
        Entry(
            code: "credential_in_url", status: 400, title: "A credential must not be sent in the URL",
            cause: "The URL contains a credential, and URLs are stored in logs and browser histories.",
            remedy:
                "Send the credential in the Authorization header. For a browser's EventSource, use a ticket from POST "
                + "/v1/stream-tickets."),
        Entry(
            code: "expectation_failed", status: 417, title: "The value of the Expect header is not supported",
            cause: "The header Expect names something other than 100-continue.",
            remedy: "Send 'Expect: 100-continue', or leave the header out."),
        Entry(
            code: "session_ended", status: 401, title: "The session has ended",
            cause: "The session cookie has expired, or the API key that was used to sign in was deleted.",
            remedy: "Sign in again: POST /v1/session with a key."),
        Entry(
            code: "foreign_origin", status: 403, title: "The request comes from a page of another site",
            cause: "The request was sent with a session cookie by a page of another site.",
            remedy:
                "Send an API key or a ticket. Behind a proxy that changes the Host header, set public_url to "
                + "the address that browsers see."),
        Entry(
            code: "unauthorized", status: 401, title: "A valid credential is needed",
            cause: "The request has no credential, or one that is not valid.",
            remedy: "Send a valid API key or token in the Authorization header."),
        Entry(
            code: "credential_missing", status: 401, title: "A credential is needed",
            cause: "The request has no credential.",
            remedy: "Send an API key as 'Authorization: Bearer <key>'."),
        Entry(
            code: "credential_invalid", status: 401, title: "The credential is not valid",
            cause: "The API key or token is unknown or has expired, or the key was deleted.",
            remedy: "Send a valid credential; an administrator can create a new key."),
        Entry(
            code: "token_invalid", status: 401, title: "The token cannot be used",
            cause:
                "The token's signature is valid, but the token was revoked, or a claim is missing, is wrong, or "
                + "grants more than the token's key allows. The detail names the claim.",
            remedy: "Issue a token with correct claims."),
        Entry(
            code: "token_expired", status: 401, title: "The token has expired",
            cause: "The time in the token's claim 'exp' is in the past.",
            remedy: "Get a new token from the server that issued the expired token."),
        Entry(
            code: "ticket_invalid", status: 401, title: "The ticket is not valid",
            cause:
                "The ticket is unknown, was already used, or is older than 60 seconds. A used ticket can only "
                + "resume its own stream, with Last-Event-ID and within two minutes.",
            remedy: "Get a new ticket: POST /v1/stream-tickets."),
        Entry(
            code: "signature_invalid", status: 401, title: "The signature is not valid",
            cause:
                "The post was not signed with a secret of the source, or its timestamp is too old. Nothing "
                + "was stored.",
            remedy: "Compare the secret, the scheme and the clock of the sender with the source's settings."),
        Entry(
            code: "forbidden", status: 403, title: "The credential does not allow this request",
            cause:
                "The credential lacks a scope, or has no access to the channel or event type. The detail names the missing right.",
            remedy: "Use a credential with the required scope and with access to the channel and the event type."),
        Entry(
            code: "banned", status: 403, title: "The user is banned from the channel",
            cause:
                "The user is banned from the channel and can neither write nor read there. The detail says "
                + "until when.",
            remedy: "Wait until the ban ends, or ask an operator of the channel to lift it."),
        Entry(
            code: "muted", status: 403, title: "The user is muted in the channel",
            cause: "The user is muted in the channel and can read but not write. The detail says until when.",
            remedy: "Wait until the mute ends, or ask an operator of the channel to lift it."),
        Entry(
            code: "frozen", status: 403, title: "The channel is frozen",
            cause: "The channel is frozen: only its operators may write.",
            remedy: "Ask an operator to unfreeze the channel."),
        Entry(
            code: "cross_site_request", status: 403, title: "The request comes from a page of another site",
            cause: "The gateway is in dev mode and the request comes from a page of another site.",
            remedy:
                "Send the request from a page of this machine, or add the page's origin to the setting cors.origins."),
        Entry(
            code: "not_present", status: 404, title: "The user is not on the channel",
            cause: "The user is not present on the channel, or not inside the open channel.",
            remedy: "Mark the user as present on the channel, or let the user enter the open channel, first."),
        Entry(
            code: "not_open", status: 409, title: "The channel is not open",
            cause: "Only open channels can be entered, and this channel has members instead.",
            remedy: "Join the channel instead."),
        Entry(
            code: "not_a_member", status: 403, title: "The user is not a member of the channel",
            cause: "Only members may use the channel, and the user is not a member.",
            remedy: "Join the channel, or accept the invitation, first."),
        Entry(
            code: "not_found", status: 404, title: "Not found",
            cause: "No object has this name or id, or this credential may not see the object.",
            remedy: "Check the names and ids in the path, and check that the credential belongs to the same app."),
        Entry(
            code: "unknown_route", status: 404, title: "No route has this path",
            cause: "No route of the gateway has this path. Paths are case-sensitive, and none ends with a slash.",
            remedy: "Compare the path with the routes that /docs and /openapi.yaml describe."),
        Entry(
            code: "no_restriction", status: 404, title: "The user is not restricted in the channel",
            cause: "The user is not banned or muted in the channel, or the restriction has ended.",
            remedy: "No action is needed."),
        Entry(
            code: "method_not_allowed", status: 405, title: "Method not allowed",
            cause: "The path exists, but it does not support this method.",
            remedy: "Use a method that the header Allow lists."),
        Entry(
            code: "not_acceptable", status: 406, title: "None of the accepted formats is available",
            cause: "The route cannot respond in any of the formats that Accept lists.",
            remedy: "For streams accept text/event-stream or application/x-ndjson."),
        Entry(
            code: "request_timeout", status: 408, title: "The request took too long to arrive",
            cause: "The header or the body did not arrive within its deadline.",
            remedy: "Send the request again over a faster or steadier connection."),
        Entry(
            code: "conflict", status: 409, title: "The current state does not allow the request",
            cause: "The current state of the resource does not allow the request. The detail gives the reason.",
            remedy: "Read the current state of the resource, and change the request accordingly."),
        Entry(
            code: "idempotency_key_running", status: 409, title: "The same request is still running",
            cause: "A request with the same Idempotency-Key is still running.",
            remedy: "Repeat the request after the time in Retry-After."),
        Entry(
            code: "idempotency_answer_lost", status: 409, title: "The response of the first request was not stored",
            cause:
                "A request with this Idempotency-Key was started, but its response was not stored: the gateway "
                + "stopped before it responded, or the response was too large.",
            remedy: "Check which changes were stored, and send the missing changes with another key."),
        Entry(
            code: "incompatible_schema", status: 409, title: "The schema is not compatible with an earlier version",
            cause:
                "The schema is not compatible with an earlier version, or its compatibility cannot be proved. The "
                + "errors name the places; a witness is a payload that one version accepts and the other rejects.",
            remedy:
                "Change the schema, declare the type with another compatibility, or send 'force' with a "
                + "reason, which is stored with the version."),
        Entry(
            code: "event_type_in_use", status: 409, title: "The event type has versions",
            cause: "The event type has versions of its schema, and stored events may refer to them.",
            remedy:
                "Set the mode of the type to off. To delete the type nevertheless, send DELETE with the type's ETag in If-Match."
        ),
        Entry(
            code: "gone", status: 410, title: "The resource was permanently deleted",
            cause: "The resource existed and was permanently deleted.",
            remedy: "Do not request the resource again."),
        Entry(
            code: "outlived", status: 410, title: "The event is older than the app's retention",
            cause: "The imported event is older than the app's retention, so it would be deleted immediately.",
            remedy: "Increase the app's retention_hours, then import the event again."),
        Entry(
            code: "precondition_failed", status: 412, title: "The resource has changed since it was read",
            cause: "The version in If-Match, 'etag' or 'updated_at' is not the current version of the resource.",
            remedy: "Read the resource again, and repeat the change with its new version."),
        Entry(
            code: "content_too_large", status: 413, title: "The request body is too large",
            cause: "The body, or a part of it, is larger than the gateway accepts. 'limit_bytes' gives the maximum.",
            remedy: "Send less data, or ask the operator of the gateway to raise the limit."),
        Entry(
            code: "mapping_too_costly", status: 413, title: "Applying the mapping to the post takes too much work",
            cause:
                "Applying the source's mapping to this post exceeds the limit on the work of a mapping, usually because of nested `each` lists. Nothing was stored.",
            remedy: "Nest fewer `each` lists in the mapping, or let the sender post fewer items in one request."),
        Entry(
            code: "too_many_events", status: 413, title: "Too many events in one request",
            cause: "The request has more events or records than the gateway accepts. 'limit' gives the maximum.",
            remedy: "Send the events or records in several requests."),
        Entry(
            code: "target_too_long", status: 414, title: "The request line is too long",
            cause: "The method, path and query together are longer than the gateway accepts.",
            remedy: "Send long values in the body instead of the URL."),
        Entry(
            code: "unsupported_media_type", status: 415, title: "Unsupported media type",
            cause: "The route does not accept this Content-Type.",
            remedy: "Send application/json, or the type that the route documents."),
        Entry(
            code: "unsupported_content_encoding", status: 415, title: "Unsupported content encoding",
            cause: "The route does not accept this Content-Encoding.",
            remedy: "Use gzip, deflate or no encoding. A signed post to a source must have no encoding."),
        Entry(
            code: "misdirected_request", status: 421, title: "The request is for another host",
            cause:
                "The Host header names another host. In dev mode the gateway accepts only requests for localhost, 127.0.0.1, "
                + "[::1] and the host of public_url.",
            remedy: "Send the request to one of these hosts, or set public_url."),
        Entry(
            code: "unprocessable", status: 422, title: "The request is well-formed but not accepted",
            cause: "The request is well-formed, but its content is not accepted. The detail gives the reason.",
            remedy: "Correct the value that the detail names."),
        Entry(
            code: "not_past", status: 422, title: "The timetoken is not in the past",
            cause: "The timetoken of an imported event is not in the past.",
            remedy: "Send a timetoken in the past: 17 digits, the tenths of a microsecond since 1970."),
        Entry(
            code: "idempotency_key_reused", status: 422, title: "The Idempotency-Key was used for another request",
            cause: "An earlier request with this Idempotency-Key had another path, query or body.",
            remedy: "Use a new key for a new request."),
        Entry(
            code: "mapping_failed", status: 422, title: "The post does not fit the source's mapping",
            cause: "The source's mapping refers to a value that the post does not contain. The errors name the places.",
            remedy: "Correct the mapping or the post. POST /v1/sources/{id}/test tests a mapping."),
        Entry(
            code: "not_verified", status: 422, title: "The request was not verified when it arrived",
            cause:
                "The post's signature was not valid when the post arrived, so the post cannot be replayed.",
            remedy: "Let the sender send the post again with a valid signature."),
        Entry(
            code: "not_replayable", status: 422, title: "The request was not stored completely",
            cause: "Only the beginning of the request's body was stored, so the request cannot be replayed or tested.",
            remedy: "Let the sender send the post again."),
        Entry(
            code: "not_composed", status: 422, title: "The event cannot be written in the webhook's format",
            cause:
                "The event cannot be written in the webhook's format: the template refers to a value that the "
                + "event does not have, or the template's result is too large.",
            remedy: "Change the webhook's template, or its format."),
        Entry(
            code: "verification_failed", status: 422, title: "The webhook's receiver has not consented",
            cause:
                "The webhook's receiver did not consent to deliveries. The detail says what is missing from its response.",
            remedy: "Change the receiver so that it responds as required, then send POST /v1/webhooks/{id}/verify."),
        Entry(
            code: "too_many_webhooks", status: 422, title: "The app has too many webhooks",
            cause: "The app has reached its maximum number of webhooks.",
            remedy: "Delete a webhook, or let one webhook receive several patterns."),
        Entry(
            code: "too_many_jobs", status: 422, title: "The app has too many unfinished jobs",
            cause: "The app has reached its maximum number of unfinished jobs.",
            remedy: "Wait until a job finishes, or cancel one."),
        Entry(
            code: "too_many_sources", status: 422, title: "The app has too many sources",
            cause: "The app has reached its maximum number of sources.",
            remedy: "Delete a source that is not used."),
        Entry(
            code: "schema_violation", status: 422, title: "The payload does not match the schema of its event type",
            cause:
                "The payload does not match the schema of its event type. The errors point into 'data'. "
                + "Nothing was stored.",
            remedy:
                "Correct the payload as the errors say. POST /v1/event-types/{type}/validate checks a payload without "
                + "storing it."),
        Entry(
            code: "undeclared_type", status: 422, title: "The event type is not declared",
            cause: "This app accepts only declared event types, and the type of the event is not declared.",
            remedy: "Correct the name of the type, or declare the type with PUT /v1/event-types/{type}."),
        Entry(
            code: "schema_invalid", status: 422, title: "The schema cannot be used",
            cause:
                "The document is not a JSON Schema that the gateway can use. The errors name the places in the schema.",
            remedy:
                "Use dialect 2020-12, 2019-09, 07, 06 or 04, named by $schema, with references inside the "
                + "schema only."),
        Entry(
            code: "example_invalid", status: 422, title: "An example does not fit its schema",
            cause: "The schema rejects an example, or accepts a counter-example. The errors name the places.",
            remedy: "Correct the schema or the example."),
        Entry(
            code: "too_many_event_types", status: 422, title: "The app has too many event types",
            cause: "The app has reached its maximum number of event types. 'limit' gives the maximum.",
            remedy: "Delete an event type that is not used."),
        Entry(
            code: "schema_memory_full", status: 422, title: "The app's schemas take too much memory",
            cause: "The app's compiled schemas have reached their limit of memory.",
            remedy: "Make this schema smaller, or delete event types that are not used."),
        Entry(
            code: "too_many_versions", status: 422, title: "The event type has too many versions",
            cause: "The event type has reached its maximum number of versions. 'limit' gives the maximum.",
            remedy: "Create a new event type under another name."),
        Entry(
            code: "too_many_requests", status: 429, title: "A limit is reached",
            cause: "The request would exceed a limit. 'limit' gives the maximum.",
            remedy: "Repeat the request after the time in Retry-After, or delete objects that are not needed."),
        Entry(
            code: "quota_exceeded", status: 429, title: "The rate is exceeded",
            cause:
                "The key or the app has exceeded its rate. The header RateLimit-Policy gives the rates. The header RateLimit gives the remaining quantities.",
            remedy: "Repeat the request after the time in Retry-After."),
        Entry(
            code: "too_many_streams", status: 429, title: "Too many streams",
            cause:
                "The address, app, key or user has reached its maximum number of open streams and polls, which 'limit' gives.",
            remedy: "Close streams, or follow several channels with one stream."),
        Entry(
            code: "headers_too_large", status: 431, title: "The request header is too large",
            cause: "The header fields together are larger than the gateway accepts.",
            remedy: "Send fewer or shorter fields."),
        Entry(
            code: "internal_error", status: 500, title: "Internal error",
            cause: "An internal error occurred in the gateway. The gateway's log contains the request id.",
            remedy: "Repeat the request once. If it fails again, send the request id to the operator of the gateway."),
        Entry(
            code: "overloaded", status: 503, title: "The server is overloaded",
            cause: "Too many requests are waiting. Nothing was stored.",
            remedy: "Repeat the request after the time in Retry-After."),
        Entry(
            code: "unavailable", status: 503, title: "The store cannot be reached",
            cause: "The store cannot be reached. Nothing was stored.",
            remedy: "Repeat the request after the time in Retry-After."),
        Entry(
            code: "outcome_unknown", status: 503, title: "The change may or may not have been stored",
            cause: "The store failed during the commit, so the change may or may not have been stored.",
            remedy: "Repeat the request with the same Idempotency-Key."),
        Entry(
            code: "not_ready", status: 503, title: "The gateway is not ready",
            cause: "The gateway waits for its store, or a test event that it wrote did not reach a subscriber in time.",
            remedy: "Wait and repeat the request. If the problem lasts, look at the gateway's log."),
        Entry(
            code: "storage_full", status: 507, title: "The disk is full",
            cause: "The disk is full. Nothing was stored.",
            remedy: "Ask the operator to free disk space, then repeat the request."),
        Entry(
            code: "http_version_not_supported", status: 505, title: "The HTTP version is not supported",
            cause: "The gateway does not support the HTTP version in the request line.",
            remedy: "Use HTTP/1.1 or HTTP/1.0."),
    ]
}
