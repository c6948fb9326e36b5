/// The names and meanings of the gateway's problems: the `title` of each, and the page to which its `type` points.
enum ProblemCatalogue {
    struct Entry: Sendable {
        let code: String
        let status: Int
        let title: String
        /// The cause of the problem, for readers.
        let cause: String
        /// The remedy, for readers.
        let remedy: String
    }

    /// The title of a code; nil for one that is not listed.
    static func title(of code: String) -> String? { byCode[code]?.title }

    /// The entry of a code in the spelling of URLs, which replaces `_` by `-`.
    static func entry(path: String) -> Entry? { byCode[String(path.map { $0 == "-" ? "_" : $0 })] }

    private static let byCode = Dictionary(uniqueKeysWithValues: entries.map { ($0.code, $0) })

    static let entries = common + members

    private static let common: [Entry] = [
        Entry(
            code: "malformed_request", status: 400, title: "The request is malformed",
            cause:
                "The request line, path, query, header or body cannot be parsed. For JSON, 'line' and "
                + "'column' say where.",
            remedy: "Correct the syntax that the detail names and send the request again."),
        Entry(
            code: "unexpected_body", status: 400, title: "The request takes no body",
            cause: "The request has a body, and its method and path take none.",
            remedy: "Send the request without a body; put the values into the path or the query."),
        Entry(
            code: "duplicate_name", status: 400, title: "A name occurs twice in one JSON object",
            cause: "A JSON object has the same member name twice, so it is unclear which value is meant.",
            remedy: "Send every member once."),
        Entry(
            code: "too_deep", status: 400, title: "The JSON is nested too deeply",
            cause:
                "Arrays and objects are nested deeper than the gateway accepts, which is 64 levels unless it "
                + "is configured otherwise.",
            remedy: "Flatten the JSON, or send the inner part as a string."),
        Entry(
            code: "number_out_of_range", status: 400, title: "A number is out of range",
            cause: "A number is outside the range of a 64-bit integer or of a double.",
            remedy: "Send the number as a string."),
        Entry(
            code: "unknown_member", status: 400, title: "The body has an unknown member",
            cause:
                "The body has a member that the route does not read. Members are read strictly, so that a "
                + "mistyped one does not become a default.",
            remedy: "Use the name that the detail suggests, or leave the member out."),
        Entry(
            code: "member_missing", status: 400, title: "The body lacks a member",
            cause: "The body lacks a member that is required, or is empty. The detail names the member.",
            remedy: "Send the member in the body; send {} for an object without members."),
        Entry(
            code: "parameter_missing", status: 400, title: "The query lacks a parameter",
            cause: "The query lacks a parameter that is required, such as the user who acts. The detail names it.",
            remedy: "Send the parameter in the query; the route takes no body."),
        Entry(
            code: "wrong_type", status: 400, title: "A member has the wrong JSON type",
            cause: "A member has another JSON type than the route expects. The pointer names the member.",
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
                "The query has a parameter that the route does not read. Parameters are read strictly, "
                + "because a mistyped filter would show, or remove, more than was meant.",
            remedy: "Use the name that the detail suggests, or leave the parameter out."),
        Entry(
            code: "bad_parameter", status: 400, title: "A parameter cannot be used",
            cause: "A parameter of the path or the query, or a header field, has a value that is not accepted.",
            remedy: "Send a value that the detail describes."),
        Entry(
            code: "bad_cursor", status: 400, title: "The cursor does not belong to this list",
            cause: "The cursor was not given out by this list, or its path or filters have changed since.",
            remedy:
                "Send exactly the cursor that an earlier answer gave, to the same path with the same filters. "
                + "To start again, leave the cursor out."),
        Entry(
            code: "bad_pattern", status: 400, title: "The pattern cannot be read",
            cause: "The pattern cannot be parsed.",
            remedy: "Send a name, 'a.b.*' for everything below 'a.b', or '*'."),
        Entry(
            code: "bad_filter", status: 400, title: "The filter cannot be read",
            cause: "The filter expression cannot be parsed. The detail says what is wrong and at which column.",
            remedy: "Correct the expression; the guide /docs/filters describes the language."),
        Entry(
            code: "bad_cloud_event", status: 400, title: "The CloudEvent cannot be read",
            cause: "The CloudEvent lacks an attribute, or one has a value that is not accepted.",
            remedy:
                "Send CloudEvents 1.0 with specversion, id, source and type, and name the channel by subject "
                + "or ?channel=."),
        Entry(
            code: "bad_idempotency_key", status: 400, title: "The Idempotency-Key cannot be used",
            cause:
                "The header Idempotency-Key is not one value of 1 to 255 visible ASCII characters, or the "
                + "route takes none because its answer holds a credential.",
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
            code: "url_refused", status: 400, title: "The URL is refused",
            cause: "The URL has a private address, an unusual port, or no TLS, which this gateway does not post to.",
            remedy: "Use a public https URL, or have the operator permit the address."),
        Entry(
            code: "credential_in_url", status: 400, title: "Credentials do not belong in URLs",
            cause: "The URL contains a credential. URLs end up in logs and histories.",
            remedy:
                "Send the Authorization header. In a browser's EventSource, use a ticket of POST "
                + "/v1/stream-tickets."),
        Entry(
            code: "expectation_failed", status: 417, title: "The expectation cannot be met",
            cause: "The header Expect names something other than 100-continue.",
            remedy: "Send 'Expect: 100-continue', or leave the header out."),
        Entry(
            code: "session_ended", status: 401, title: "The page has to sign in again",
            cause: "The page's session has expired, or the key it was made with was removed.",
            remedy: "Sign in again: POST /v1/session with a key."),
        Entry(
            code: "foreign_origin", status: 403, title: "The request comes from a page of another site",
            cause: "The request has a session cookie but comes from a page of another site.",
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
            cause: "The API key or token is unknown, has expired, or its key was removed.",
            remedy: "Send a credential that is valid; an administrator can make a new key."),
        Entry(
            code: "token_invalid", status: 401, title: "The token cannot be used",
            cause:
                "The token is signed, but it was revoked, or a claim is missing, wrong, or grants more than "
                + "its key may. The detail names the claim.",
            remedy: "Issue a token with correct claims."),
        Entry(
            code: "token_expired", status: 401, title: "The token has expired",
            cause: "The token has expired.",
            remedy: "Get a new token from the server that issued this one."),
        Entry(
            code: "ticket_invalid", status: 401, title: "The ticket is not valid",
            cause:
                "The ticket is unknown, was used, or is older than 60 seconds. With Last-Event-ID a used "
                + "ticket resumes its own stream for two minutes.",
            remedy: "Get a new ticket: POST /v1/stream-tickets."),
        Entry(
            code: "signature_invalid", status: 401, title: "The signature is not valid",
            cause:
                "The post was not signed with a secret of the source, or its timestamp is too old. Nothing "
                + "was stored.",
            remedy: "Compare the secret, the scheme and the clock of the sender with the source's settings."),
        Entry(
            code: "forbidden", status: 403, title: "The credential does not allow this",
            cause: "The credential lacks a scope, or does not reach the channel or type. The detail names it.",
            remedy: "Use a credential that has the scope and reaches the channel and type."),
        Entry(
            code: "banned", status: 403, title: "The user is banned from the channel",
            cause:
                "The user is banned from the channel and can neither write nor read there. The detail says "
                + "until when.",
            remedy: "Wait until the ban ends, or have a moderator lift it."),
        Entry(
            code: "muted", status: 403, title: "The user is muted in the channel",
            cause: "The user is muted in the channel and can read but not write. The detail says until when.",
            remedy: "Wait until the mute ends, or have a moderator lift it."),
        Entry(
            code: "frozen", status: 403, title: "The channel is frozen",
            cause: "The channel is frozen: only its operators may write.",
            remedy: "Have an operator unfreeze the channel."),
        Entry(
            code: "cross_site_request", status: 403, title: "The request comes from a page of another site",
            cause: "The gateway is in dev mode and the request comes from a page of another site.",
            remedy: "Call from a page of this machine, or add the page's origin to cors.origins."),
        Entry(
            code: "not_present", status: 404, title: "The user is not on the channel",
            cause: "The user is not on the channel.",
            remedy: "Send a sign of life, or enter the channel, first."),
        Entry(
            code: "not_open", status: 409, title: "The channel is not open",
            cause: "The channel has members, and only open channels are entered.",
            remedy: "Join the channel instead."),
        Entry(
            code: "not_a_member", status: 403, title: "The user is not a member of the channel",
            cause: "The channel is for its members, and the user is not one of them.",
            remedy: "Join the channel, or accept the invitation, first."),
        Entry(
            code: "not_found", status: 404, title: "Not found",
            cause: "No object has this name or id, or none that this credential may know of.",
            remedy: "Check the names and ids in the path, and whether the credential belongs to the same app."),
        Entry(
            code: "unknown_route", status: 404, title: "No route has this path",
            cause: "No route of the gateway has this path. Paths are case-sensitive, and none ends with a slash.",
            remedy: "Compare the path with the routes that /docs and /openapi.yaml describe."),
        Entry(
            code: "no_restriction", status: 404, title: "The user is not restricted in the channel",
            cause: "The user has no restriction in the channel: none was set, or it was lifted, or it has ended.",
            remedy: "No action is needed."),
        Entry(
            code: "method_not_allowed", status: 405, title: "Method not allowed",
            cause: "The path does not have this method.",
            remedy: "Use a method that the header Allow lists."),
        Entry(
            code: "not_acceptable", status: 406, title: "None of the accepted formats is available",
            cause: "The route cannot answer in any of the formats that Accept lists.",
            remedy: "For streams accept text/event-stream or application/x-ndjson."),
        Entry(
            code: "request_timeout", status: 408, title: "The request took too long to arrive",
            cause: "The header or the body did not arrive within its deadline.",
            remedy: "Send the request again over a faster or steadier connection."),
        Entry(
            code: "conflict", status: 409, title: "The present state does not allow this",
            cause: "The present state does not allow the change. The detail says what stands in the way.",
            remedy: "Read the present state and decide again."),
        Entry(
            code: "idempotency_key_running", status: 409, title: "The same request is still running",
            cause: "A request with the same Idempotency-Key is still running.",
            remedy: "Repeat the request after the time that Retry-After gives."),
        Entry(
            code: "idempotency_answer_lost", status: 409, title: "The request was begun, and its answer is lost",
            cause:
                "A request with this Idempotency-Key was begun, and its answer is lost: the gateway ended "
                + "between the change and the answer, or the answer was too large to keep.",
            remedy: "Read the stored data, and send what is missing with another key."),
        Entry(
            code: "incompatible_schema", status: 409, title: "The schema breaks an earlier version",
            cause:
                "The schema breaks an earlier version. The errors name the places; a witness is a payload "
                + "that one version accepts and the other rejects.",
            remedy:
                "Change the schema, declare the type with another compatibility, or send 'force' with a "
                + "reason, which is kept with the version."),
        Entry(
            code: "event_type_in_use", status: 409, title: "The event type has versions",
            cause: "The event type has versions, which stored events may name.",
            remedy: "Set its mode to off. To remove it all the same, read it and send DELETE with If-Match."),
        Entry(
            code: "gone", status: 410, title: "The resource is gone for good",
            cause: "The resource existed and was removed for good.",
            remedy: "Do not request it again."),
        Entry(
            code: "outlived", status: 410, title: "The event is older than the app's retention",
            cause: "The event is older than the app keeps events, so that it would be hidden at once.",
            remedy: "Give the app a longer retention, then import the event again."),
        Entry(
            code: "precondition_failed", status: 412, title: "The resource has changed since it was read",
            cause: "The version that If-Match, 'etag' or 'updated_at' names is not the present one.",
            remedy: "Read it again and repeat the change on the new version."),
        Entry(
            code: "content_too_large", status: 413, title: "The request body is too large",
            cause: "The body, or a part of it, is larger than accepted. 'limit_bytes' gives the maximum.",
            remedy: "Send less, or have the operator raise the limit."),
        Entry(
            code: "mapping_too_costly", status: 413, title: "The post is too much work for the mapping",
            cause:
                "Applying the source's mapping to this post exceeds the limit on the work of a mapping, usually because of nested `each` lists. Nothing was stored.",
            remedy: "Nest fewer `each` lists in the mapping, or have the sender post less at once."),
        Entry(
            code: "too_many_events", status: 413, title: "Too many events in one request",
            cause: "The request has more events or records than accepted. 'limit' gives the maximum.",
            remedy: "Split them into several requests."),
        Entry(
            code: "target_too_long", status: 414, title: "The request line is too long",
            cause: "The request line is too long.",
            remedy: "Move what is long from the URL into the body."),
        Entry(
            code: "unsupported_media_type", status: 415, title: "Unsupported media type",
            cause: "The Content-Type is not one that the route reads.",
            remedy: "Send application/json, or the type that the route documents."),
        Entry(
            code: "unsupported_content_encoding", status: 415, title: "Unsupported content encoding",
            cause: "The Content-Encoding is not one that the route reads.",
            remedy: "Use gzip, deflate or none; for signed posts to a source none."),
        Entry(
            code: "misdirected_request", status: 421, title: "The request is for another host",
            cause:
                "The Host header names another host. In dev mode the gateway answers to localhost, 127.0.0.1, "
                + "[::1] and the host of public_url.",
            remedy: "Use one of these hosts, or set public_url."),
        Entry(
            code: "unprocessable", status: 422, title: "The request was understood and is refused",
            cause: "The request was understood, but its meaning is not accepted. The detail says why.",
            remedy: "Change what the detail names."),
        Entry(
            code: "not_past", status: 422, title: "The timetoken is not in the past",
            cause: "The timetoken of an imported event is not in the past.",
            remedy: "Send a timetoken of the past: 17 digits, tenths of a microsecond since 1970."),
        Entry(
            code: "idempotency_key_reused", status: 422, title: "The Idempotency-Key belongs to another request",
            cause: "The Idempotency-Key was used for another request or another body.",
            remedy: "Use a new key for a new request."),
        Entry(
            code: "mapping_failed", status: 422, title: "The post does not fit the source's mapping",
            cause: "The source's mapping points at something that the post does not have. The errors name the places.",
            remedy: "Change the mapping, or what is sent; POST /v1/sources/{id}/test tries a mapping."),
        Entry(
            code: "not_verified", status: 422, title: "The request was not verified when it arrived",
            cause:
                "The post's signature was not accepted when it arrived, so it cannot be sent through its source again.",
            remedy: "Have the sender post it again with a valid signature."),
        Entry(
            code: "not_replayable", status: 422, title: "The request was not stored completely",
            cause: "The log of requests keeps only the beginning of a long body.",
            remedy: "Have the sender post it again."),
        Entry(
            code: "not_composed", status: 422, title: "The event cannot be written in the webhook's format",
            cause:
                "The event cannot be written in the webhook's format: a template points at something the "
                + "event does not have, or gives too much.",
            remedy: "Change the template, or the webhook's format."),
        Entry(
            code: "verification_failed", status: 422, title: "The webhook's receiver has not consented",
            cause: "The webhook's receiver did not consent to deliveries. The detail says what its answer lacks.",
            remedy: "Have the receiver answer as the detail says, then POST /v1/webhooks/{id}/verify."),
        Entry(
            code: "too_many_webhooks", status: 422, title: "The app has too many webhooks",
            cause: "The app has as many webhooks as it may.",
            remedy: "Remove one, or have one serve several patterns."),
        Entry(
            code: "too_many_jobs", status: 422, title: "The app has too many unfinished jobs",
            cause: "The app has as many unfinished jobs as it may.",
            remedy: "Wait for one to finish, or cancel one."),
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
                "Send what the errors expect; POST /v1/event-types/{type}/validate checks a payload without "
                + "storing it."),
        Entry(
            code: "undeclared_type", status: 422, title: "The event type is not declared",
            cause: "This app accepts declared event types only, and this one is not declared.",
            remedy: "Correct the name, or declare it with PUT /v1/event-types/{type}."),
        Entry(
            code: "schema_invalid", status: 422, title: "The schema cannot be used",
            cause: "The document is not a schema that can be used. The errors point into the schema.",
            remedy:
                "Use dialect 2020-12, 2019-09, 07, 06 or 04, named by $schema, with references inside the "
                + "schema only."),
        Entry(
            code: "example_invalid", status: 422, title: "An example does not fit its schema",
            cause: "The schema rejects an example, or accepts a counter-example. The errors name the places.",
            remedy: "Correct the schema or the example."),
        Entry(
            code: "too_many_event_types", status: 422, title: "The app has too many event types",
            cause: "The app has declared as many event types as it may. 'limit' gives the maximum.",
            remedy: "Remove an event type."),
        Entry(
            code: "schema_memory_full", status: 422, title: "The app's schemas take too much memory",
            cause: "The app's compiled schemas take as much memory as they may.",
            remedy: "Make this schema smaller, or remove event types that are not used."),
        Entry(
            code: "too_many_versions", status: 422, title: "The event type has too many versions",
            cause: "The event type has as many versions as it may. 'limit' gives the maximum.",
            remedy: "Create a new event type under another name."),
        Entry(
            code: "too_many_requests", status: 429, title: "A limit is reached",
            cause: "The request would exceed a limit. 'limit' gives the maximum.",
            remedy: "Repeat the request after the time that Retry-After gives, or remove what is not needed."),
        Entry(
            code: "quota_exceeded", status: 429, title: "The rate is exceeded",
            cause: "The key or the app has used up its rate. RateLimit-Policy has the rates, RateLimit what is left.",
            remedy: "Repeat the request after the time that Retry-After gives."),
        Entry(
            code: "too_many_streams", status: 429, title: "Too many streams",
            cause: "The address, app, key or user has as many streams and polls as it may. 'limit' gives the maximum.",
            remedy: "Close some, or follow several channels with one stream."),
        Entry(
            code: "headers_too_large", status: 431, title: "The request header is too large",
            cause: "The header fields together are larger than accepted.",
            remedy: "Send fewer or shorter fields."),
        Entry(
            code: "internal_error", status: 500, title: "Internal error",
            cause: "Something failed in the gateway. Its log has the request id.",
            remedy: "Repeat the request once; then give the request id to the operator."),
        Entry(
            code: "overloaded", status: 503, title: "The server is overloaded",
            cause: "Too much is waiting. Nothing was stored.",
            remedy: "Repeat the request after the time that Retry-After gives."),
        Entry(
            code: "unavailable", status: 503, title: "The store cannot be reached",
            cause: "The store cannot be reached. Nothing was stored.",
            remedy: "Repeat the request after the time that Retry-After gives."),
        Entry(
            code: "outcome_unknown", status: 503, title: "The change may or may not have been stored",
            cause: "The store was lost during the commit, so the change may or may not have been stored.",
            remedy: "Repeat the request with the same Idempotency-Key."),
        Entry(
            code: "not_ready", status: 503, title: "The gateway is not ready",
            cause: "An event that was written did not reach a subscriber in time.",
            remedy: "Wait; look at the gateway's log if it lasts."),
        Entry(
            code: "storage_full", status: 507, title: "The disk is full",
            cause: "The disk is full. Nothing was stored.",
            remedy: "Have the operator free space, then repeat the request."),
        Entry(
            code: "http_version_not_supported", status: 505, title: "The HTTP version is not supported",
            cause: "The request line names an HTTP version that the gateway does not speak.",
            remedy: "Use HTTP/1.1 or HTTP/1.0."),
    ]
}
