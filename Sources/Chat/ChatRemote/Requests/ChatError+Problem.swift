import ChatModel
import HTTPClient
import JSON

extension ChatError {
    /// Creates the error of a failed response: from its problem document (RFC 9457), or else from its status.
    ///
    /// A 404 without a problem document comes not from the gateway but from a proxy that has no route to it, which may
    /// change.
    init(problem body: [UInt8], status: Int, retryAfter: Duration?) {
        let code = Code(status: status)
        let problem = try? JSONDocument(body, limits: JSONLimits(depth: 64), numbers: .lenient).root
        if let problem, let title = problem["title"]?.string {
            self.init(code, problem["detail"]?.string ?? title, slug: problem["code"]?.string)
            faults = (problem["errors"]?.elements ?? []).map { FieldError($0) }
        } else if code == .notFound {
            self.init(.unavailable, "no gateway answers there: 404 without a problem document")
        } else {
            self.init(code, "the gateway answered \(status) without a problem document")
        }
        self.retryAfter = retryAfter
        if let retryAfter, retryAfter > Backoff.patience {
            message += "; try again in \(retryAfter.components.seconds) seconds"
        }
    }

    /// Creates the error of a request without a response.
    init(_ failure: OutboundFailure, url: String, mayBeDone: Bool) {
        let (code, sentence): (Code, String) =
            switch failure.reason {
            case .connectRefused: (.unavailable, "nothing answers at \(url)")
            case .dns: (.unavailable, "the host of \(url) has no address")
            case .connectTimeout: (.unavailable, "\(url) did not accept the connection in time")
            case .timeout: (mayBeDone ? .outcomeUnknown : .unavailable, "\(url) did not answer in time")
            case .reset:
                (
                    mayBeDone ? .outcomeUnknown : .unavailable,
                    "\(url) closed the connection before its answer was complete"
                )
            case .tls: (.unauthorized, "no trusted connection to \(url): \(failure.detail)")
            case .responseInvalid: (.unavailable, "the server at \(url) does not speak HTTP")
            case .requestInvalid: (.malformed, "the request to \(url) cannot be sent: \(failure.detail)")
            case .blockedAddress: (.forbidden, "connections to \(url) are not allowed")
            case .cancelled: (.gone, "the chat was closed, or its task cancelled")
            case .overloaded: (.overloaded, "too many requests are waiting in this process")
            }
        self.init(code, sentence, slug: failure.reason == .tls ? Self.untrusted : nil)
    }

    private static let untrusted = "untrusted_connection"

    /// True when the gateway rejected the credential.
    var isOfCredential: Bool { code == .unauthorized && slug != Self.untrusted }

    /// True when the cause may pass without a change by the client.
    var isPassing: Bool {
        switch code {
        case .tooMany, .overloaded, .unavailable, .outcomeUnknown: true
        case .conflict: retryAfter != nil
        case .malformed, .unauthorized, .forbidden, .notFound, .gone, .stale, .tooLarge, .invalid, .storageFull: false
        }
    }
}

extension ChatError.Code {
    /// Maps a status to an error code: the inverse of the gateway's table.
    fileprivate init(status: Int) {
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 408: .unavailable
            case 409: .conflict
            case 410: .gone
            case 412: .stale
            case 413: .tooLarge
            case 422: .invalid
            case 429: .tooMany
            case 507: .storageFull
            case 500...: .unavailable
            default: .malformed
            }
    }
}
