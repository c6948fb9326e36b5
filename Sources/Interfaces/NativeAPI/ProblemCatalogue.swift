/// What the gateway's problems are called and mean: for the `title` of each and for the pages their `type` points at.
enum ProblemCatalogue {
    struct Entry: Sendable {
        let code: String
        let status: Int
        let title: String
        /// What happened and what helps, for a person.
        let meaning: String
    }

    /// The title of a code; nil for one that is not listed.
    static func title(of code: String) -> String? { byCode[code]?.title }

    /// The entry of a code as it stands in URLs, `-` for `_`.
    static func entry(path: String) -> Entry? { byCode[String(path.map { $0 == "-" ? "_" : $0 })] }

    private static let byCode = Dictionary(uniqueKeysWithValues: entries.map { ($0.code, $0) })

    static let entries = common + members

    private static let common: [Entry] = [
        Entry(
            code: "malformed_request", status: 400, title: "The request is malformed",
            meaning: "Its line, path, query, header or body cannot be understood; the detail says what and, "
                + "for JSON, where."),
        Entry(
            code: "duplicate_name", status: 400, title: "A name occurs twice in one JSON object",
            meaning: "Which of the two was meant cannot be known. Send every member once."),
        Entry(
            code: "too_deep", status: 400, title: "The JSON is nested too deeply",
            meaning: "Arrays and objects may be nested 64 deep unless the gateway is set otherwise."),
        Entry(
            code: "number_out_of_range", status: 400, title: "A number cannot be held",
            meaning: "Integers have 64 bits here. Send larger ones as strings."),
        Entry(
            code: "unknown_member", status: 400, title: "The body has an unknown member",
            meaning: "Members are read strictly, so that a mistyped one does not become a default."),
        Entry(
            code: "member_missing", status: 400, title: "The body lacks a member",
            meaning: "The detail names it."),
        Entry(
            code: "wrong_type", status: 400, title: "A member has the wrong JSON type",
            meaning: "The pointer says where; the detail says what was expected."),
        Entry(
            code: "bad_member", status: 400, title: "A member has a value that is not accepted",
            meaning: "The pointer says where; the detail says what is accepted."),
        Entry(
            code: "type_reserved", status: 400, title: "The event type is reserved",
            meaning:
                "Built-in types, 'stream.…', 'system.…', 'error', 'open' and 'message' cannot be emitted or declared. "
                + "Use a name of your own, such as 'acme.user.created'."),
        Entry(
            code: "unknown_parameter", status: 400, title: "The query has an unknown parameter",
            meaning: "Parameters are read strictly: a mistyped filter would show, or remove, more than was "
                + "meant."),
        Entry(
            code: "bad_parameter", status: 400, title: "A query parameter cannot be used",
            meaning: "The detail says what is accepted."),
        Entry(
            code: "bad_cursor", status: 400, title: "The cursor is none of this list",
            meaning: "Cursors are opaque: send back exactly what an earlier answer gave, to the same path with the "
                + "same filters. To start anew leave the cursor out."),
        Entry(
            code: "bad_pattern", status: 400, title: "The pattern cannot be read",
            meaning: "A pattern is a name, 'a.b.*' for everything below, or '*'."),
        Entry(
            code: "bad_filter", status: 400, title: "The filter cannot be read",
            meaning: "The detail says what is wrong and at which column."),
        Entry(
            code: "bad_cloud_event", status: 400, title: "The CloudEvent cannot be read",
            meaning: "CloudEvents 1.0 need specversion, id, source and type, and a channel by subject or "
                + "?channel=."),
        Entry(
            code: "bad_idempotency_key", status: 400, title: "The Idempotency-Key cannot be used",
            meaning: "It is one value of 1 to 255 visible ASCII characters. Routes that return a credential take none."),
        Entry(
            code: "bad_precondition", status: 400, title: "There is no version to match",
            meaning: "What the route changes has no version of its own, so that If-Match could not hold off anything."),
        Entry(
            code: "bad_form", status: 400, title: "The body is no form",
            meaning: "Its Content-Type says application/x-www-form-urlencoded, and its bytes are something else."),
        Entry(
            code: "url_refused", status: 400, title: "The URL is refused",
            meaning: "The gateway does not post to private addresses, unusual ports or without TLS, unless its "
                + "operator allows it."),
        Entry(
            code: "credential_in_url", status: 400, title: "Credentials do not belong into URLs",
            meaning: "URLs end up in logs and histories. Send the Authorization header; a browser's "
                + "EventSource uses a ticket of POST /v1/stream-tickets."),
        Entry(
            code: "expectation_failed", status: 417, title: "The expectation cannot be met",
            meaning: "Only 'Expect: 100-continue' is known."),
        Entry(
            code: "session_ended", status: 401, title: "The page has to sign in again",
            meaning: "Its session has expired, or the key it was made with was removed. POST /v1/session with a key."),
        Entry(
            code: "foreign_origin", status: 403, title: "The request comes from a page of another site",
            meaning: "A cookie counts only for pages of the gateway itself: others send an API key or a ticket. Behind "
                + "a proxy that changes the Host header, set public_url to the address that browsers see."),
        Entry(
            code: "unauthorized", status: 401, title: "A valid credential is needed",
            meaning: "The request brings none, or one that does not hold."),
        Entry(
            code: "credential_missing", status: 401, title: "A credential is needed",
            meaning: "Send an API key as 'Authorization: Bearer <key>'."),
        Entry(
            code: "credential_invalid", status: 401, title: "The credential does not hold",
            meaning: "The API key or token is unknown, or its key was removed or has expired."),
        Entry(
            code: "token_invalid", status: 401, title: "The token cannot be used",
            meaning: "It is signed, but a claim is missing or wrong, or says more than its key may; 'detail' names it."),
        Entry(
            code: "token_expired", status: 401, title: "The token has expired",
            meaning: "Get a new one from where this one came from."),
        Entry(
            code: "ticket_invalid", status: 401, title: "The ticket does not hold",
            meaning:
                "A ticket opens one stream, once, within 60 seconds; with Last-Event-ID it resumes that stream for a "
                + "while. Ask POST /v1/stream-tickets for a new one."),
        Entry(
            code: "signature_invalid", status: 401, title: "The signature does not hold",
            meaning: "The post was not signed with a secret of the source, or too long ago. Nothing was "
                + "stored."),
        Entry(
            code: "forbidden", status: 403, title: "The credential does not allow this",
            meaning: "It lacks a scope, or does not reach the channel or type. The detail names it."),
        Entry(
            code: "banned", status: 403, title: "The user is banned from the channel",
            meaning: "Banned users neither write nor hear. The detail says until when; a moderator can lift it "
                + "earlier."),
        Entry(
            code: "muted", status: 403, title: "The user is muted in the channel",
            meaning: "Muted users hear, but do not write. The detail says until when; a moderator can lift it "
                + "earlier."),
        Entry(
            code: "frozen", status: 403, title: "The channel is frozen",
            meaning: "Only operators of the channel may write until it is unfrozen."),
        Entry(
            code: "cross_site_request", status: 403, title: "The request comes from a page of another site",
            meaning: "In dev mode pages of this machine may call, and those of origins that cors.origins names."),
        Entry(
            code: "not_present", status: 404, title: "The user is not on the channel",
            meaning: "Only who is present shows something there. Send a sign of life first."),
        Entry(
            code: "not_open", status: 409, title: "The channel is no open one",
            meaning: "Open channels are entered; a channel with members is joined."),
        Entry(
            code: "not_a_member", status: 403, title: "The user is no member of the channel",
            meaning: "The channel is for its members. Join it, or accept the invitation, first."),
        Entry(
            code: "not_found", status: 404, title: "Not found",
            meaning: "There is no such thing, or none this credential may know of."),
        Entry(
            code: "no_restriction", status: 404, title: "The user is under no restriction there",
            meaning: "None was set, or it has been lifted, or it is over."),
        Entry(
            code: "method_not_allowed", status: 405, title: "Method not allowed",
            meaning: "The Allow field lists what the path knows."),
        Entry(
            code: "not_acceptable", status: 406, title: "None of the accepted formats can be given",
            meaning: "Streams come as text/event-stream or application/x-ndjson."),
        Entry(
            code: "request_timeout", status: 408, title: "The request took too long to arrive",
            meaning: "Header and body must arrive within their deadlines."),
        Entry(
            code: "conflict", status: 409, title: "The present state does not allow this",
            meaning: "The detail says what stands in the way."),
        Entry(
            code: "idempotency_key_running", status: 409, title: "The same request is still running",
            meaning: "Ask again after the time Retry-After says."),
        Entry(
            code: "idempotency_answer_lost", status: 409, title: "The request was begun, and its answer is lost",
            meaning:
                "The gateway ended between the change and its answer, or the answer was too large to be kept. Look what "
                + "there is, and send what is missing with another key."),
        Entry(
            code: "incompatible_schema", status: 409, title: "The schema breaks an earlier version",
            meaning:
                "The errors name the breaking places; the witness, if there is one, is a payload that one version "
                + "accepts and the other refuses. Change the schema, declare the type with another compatibility, or send "
                + "'force' with a reason, which is kept with the version."),
        Entry(
            code: "event_type_in_use", status: 409, title: "The event type has versions",
            meaning: "Stored events may name them. Set its mode to off; or read it and remove it with If-Match."),
        Entry(
            code: "gone", status: 410, title: "It is gone for good",
            meaning: "It existed and will not come back."),
        Entry(
            code: "outlived", status: 410, title: "It is older than the app keeps events",
            meaning: "Moved here, it would be hidden at once. Give the app a longer retention, then import it again."),
        Entry(
            code: "precondition_failed", status: 412, title: "It has changed since it was read",
            meaning: "Read it again and decide anew."),
        Entry(
            code: "content_too_large", status: 413, title: "The request body is too large",
            meaning: "The limit is in the detail; it may be for the body, the payload or the metadata."),
        Entry(
            code: "too_many_events", status: 413, title: "Too many events in one request",
            meaning: "Send them in several batches."),
        Entry(
            code: "target_too_long", status: 414, title: "The request line is too long",
            meaning: "Move what is long from the URL into the body."),
        Entry(
            code: "unsupported_media_type", status: 415, title: "Unsupported media type",
            meaning: "The body is of a kind that is not read here."),
        Entry(
            code: "unsupported_content_encoding", status: 415, title: "Unsupported content encoding",
            meaning: "Use gzip, deflate or none; for signed posts to a source none."),
        Entry(
            code: "misdirected_request", status: 421, title: "The request is for another host",
            meaning: "In dev mode the gateway answers to localhost, 127.0.0.1 and [::1], and to the host of public_url."
        ),
        Entry(
            code: "unprocessable", status: 422, title: "The request was understood and is refused",
            meaning: "The detail says why."),
        Entry(
            code: "not_past", status: 422, title: "The timetoken does not lie in the past",
            meaning: "What is imported happened already. A timetoken counts tenths of a microsecond since 1970."),
        Entry(
            code: "idempotency_key_reused", status: 422, title: "The Idempotency-Key belongs to another request",
            meaning: "A key stands for one request with one body. Take a new key for a new request."),
        Entry(
            code: "mapping_failed", status: 422, title: "The post does not fit the source's mapping",
            meaning: "A template points at something the post does not have. The errors name the places."),
        Entry(
            code: "mapping_too_costly", status: 422, title: "The post makes the mapping too large",
            meaning: "Its repetitions go over more values than a mapping may visit. Nothing was stored."),
        Entry(
            code: "not_verified", status: 422, title: "The request was not verified when it came",
            meaning: "Only a post whose signature was accepted can be sent through its source again."),
        Entry(
            code: "not_replayable", status: 422, title: "The request was not kept whole",
            meaning:
                "Long bodies of posts that were taken are cut off in the log of requests. Have the sender post it again."
        ),
        Entry(
            code: "not_composed", status: 422, title: "The event has no form in the webhook's format",
            meaning: "The detail says why: a template points at something the event does not have, or gives too much."),
        Entry(
            code: "verification_failed", status: 422, title: "The webhook's receiver has not consented",
            meaning: "The detail says what its answer lacks. Nothing is sent to it before it consents."),
        Entry(
            code: "too_many_webhooks", status: 422, title: "The app has too many webhooks",
            meaning: "Remove one, or have one serve several patterns."),
        Entry(
            code: "too_many_jobs", status: 422, title: "The app has too many jobs that are not over",
            meaning: "Wait for one, or cancel one."),
        Entry(
            code: "too_many_sources", status: 422, title: "The app has too many sources",
            meaning: "Remove one."),
        Entry(
            code: "schema_violation", status: 422, title: "The payload does not match the schema of its event type",
            meaning:
                "Nothing was stored. The errors point into data and say what was expected; "
                + "POST /v1/event-types/{type}/validate tries a payload without storing it."),
        Entry(
            code: "undeclared_type", status: 422, title: "The event type is not declared",
            meaning:
                "This app takes declared types only. Declare it with PUT /v1/event-types/{type}, or look whether the "
                + "name is misspelt."),
        Entry(
            code: "schema_invalid", status: 422, title: "This is no schema that can be used",
            meaning:
                "The errors point into the schema. Dialects are 2020-12, 2019-09, 07, 06 and 04, told by $schema; "
                + "references may not leave the schema."),
        Entry(
            code: "example_invalid", status: 422, title: "An example does not fit its schema",
            meaning:
                "The schema must accept every example and refuse every counter-example. The errors name the places."),
        Entry(
            code: "too_many_event_types", status: 422, title: "The app has too many event types",
            meaning: "Remove one."),
        Entry(
            code: "schema_memory_full", status: 422, title: "The app's schemas take too much memory",
            meaning: "Schemas are kept compiled. Make this one smaller, or remove event types that are not used."),
        Entry(
            code: "too_many_versions", status: 422, title: "The event type has too many versions",
            meaning: "Go on with a type of another name."),
        Entry(
            code: "too_many_requests", status: 429, title: "Too many",
            meaning: "Ask again after the time Retry-After says."),
        Entry(
            code: "quota_exceeded", status: 429, title: "Over the rate that was agreed",
            meaning: "Ask again after the time Retry-After says. RateLimit-Policy has the rates, RateLimit what is "
                + "left."),
        Entry(
            code: "too_many_streams", status: 429, title: "Too many streams",
            meaning: "Close some, or follow several channels with one stream."),
        Entry(
            code: "headers_too_large", status: 431, title: "The request header is too large",
            meaning: "All fields together have one limit."),
        Entry(
            code: "internal_error", status: 500, title: "Internal error",
            meaning: "Something went wrong in the gateway; its log has the request id."),
        Entry(
            code: "overloaded", status: 503, title: "The server is overloaded",
            meaning: "Nothing was stored. Ask again after the time Retry-After says."),
        Entry(
            code: "unavailable", status: 503, title: "The store cannot be reached",
            meaning: "Nothing was stored. Ask again after the time Retry-After says."),
        Entry(
            code: "outcome_unknown", status: 503, title: "It may or may not have been stored",
            meaning: "The store was lost during the commit. Repeat the request with the same Idempotency-Key."),
        Entry(
            code: "not_ready", status: 503, title: "The gateway is not ready",
            meaning: "An event that was written did not reach a subscriber in time."),
        Entry(
            code: "storage_full", status: 507, title: "The disk is full",
            meaning: "The operator must make room; nothing was stored."),
        Entry(
            code: "http_version_not_supported", status: 505, title: "The HTTP version is not supported",
            meaning: "Use HTTP/1.1 or HTTP/1.0."),
    ]
}
