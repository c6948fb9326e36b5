extension Problem {
    /// 400: the request line, path, query or header is invalid.
    static func malformedRequest(_ detail: String) -> Problem {
        Problem(status: 400, code: "malformed_request", title: "The request is malformed", detail: detail)
    }

    /// 403: a browser sent the request on behalf of a page of another site.
    static let crossSiteRequest = Problem(
        status: 403, code: "cross_site_request", title: "The request comes from a page of another site",
        detail:
            "In dev mode, pages of other sites may not send requests; add the page's origin to the setting cors.origins"
    )

    /// 404: no route matches this path.
    public static func unknownRoute(path: String) -> Problem {
        Problem(
            status: 404, code: "unknown_route", title: "No route has this path",
            detail: "No route has the path '\(path)'; GET /openapi.yaml describes all routes")
    }

    /// 405: the path does not support the method. The response lists the supported methods (RFC 9110, 15.5.6).
    ///
    /// - Parameter named: a pattern with one more segment, on which PUT creates an element under a name that the client
    ///   chooses. The detail of the problem then suggests this PUT. `nil` when there is no such pattern.
    public static func methodNotAllowed(
        _ method: HTTPMethod, allowed: [HTTPMethod], named: RoutePattern? = nil
    ) -> Problem {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        let advice = named.map { "; to create one, send PUT \($0)" } ?? ""
        return Problem(
            status: 405, code: "method_not_allowed", title: "Method not allowed",
            detail: "\(method.rawValue) is not allowed for this path; allowed are \(list)\(advice)",
            headers: [("Allow", list)])
    }

    /// 408: the client did not send its request in time.
    static let requestTimeout = Problem(
        status: 408, code: "request_timeout", title: "The request took too long to arrive", isRetryable: true)

    /// 400: the route takes no body.
    static let unexpectedBody = Problem(
        status: 400, code: "unexpected_body", title: "The request takes no body",
        detail: "This route accepts no body; send the values in the path or the query")

    /// Returns the problem for a body that is longer than its route allows: 400 if `limit` is 0, otherwise 413.
    static func bodyTooLong(limit: Int) -> Problem { limit == 0 ? .unexpectedBody : .contentTooLarge(limit: limit) }

    /// 413: the body is longer than `limit`, in bytes after decompression.
    public static func contentTooLarge(limit: Int) -> Problem {
        Problem(
            status: 413, code: "content_too_large", title: "The request body is too large",
            detail: "The body may have at most \(limit) bytes after decompression",
            members: [("limit_bytes", .integer(limit))])
    }

    /// 414: the request line is too long.
    static func targetTooLong(limit: Int) -> Problem {
        Problem(
            status: 414, code: "target_too_long", title: "The request line is too long",
            detail: "The request line may have at most \(limit) bytes", members: [("limit_bytes", .integer(limit))])
    }

    /// 415: this server does not support the `Content-Encoding`.
    static func unsupportedContentEncoding(_ name: String) -> Problem {
        Problem(
            status: 415, code: "unsupported_content_encoding", title: "Unsupported content encoding",
            detail: "Content-Encoding '\(name)' is not supported; use gzip, deflate or none",
            headers: [("Accept-Encoding", "gzip, deflate")])
    }

    /// 421: the server does not accept the host name of the request (RFC 9110, 15.5.20).
    static func misdirectedRequest(host: String) -> Problem {
        Problem(
            status: 421, code: "misdirected_request", title: "The request is for another host",
            detail:
                "This gateway accepts only requests for 'localhost', '127.0.0.1' and '[::1]'; send one of them as Host, not '\(host)'"
        )
    }

    /// 431: the header fields together are too large.
    static func headersTooLarge(limit: Int) -> Problem {
        Problem(
            status: 431, code: "headers_too_large", title: "The request header is too large",
            detail: "The header fields may have at most \(limit) bytes together",
            members: [("limit_bytes", .integer(limit))])
    }

    /// 500: an internal error; the log contains its text.
    public static let internalError = Problem(
        status: 500, code: "internal_error", title: "Internal error", isRetryable: false)

    /// 503: the server is overloaded.
    static func overloaded(_ detail: String, retryAfterSeconds: Int = 1) -> Problem {
        Problem(
            status: 503, code: "overloaded", title: "The server is overloaded", detail: detail, isRetryable: true,
            headers: [("Retry-After", String(retryAfterSeconds))])
    }
}
