import ChatModel
import GatewayClient
import HTTPClient

extension ChatError {
    /// Creates the error of a failed response from its problem document (RFC 9457), or from its status if there is
    /// none.
    ///
    /// A status 404 without a problem document does not come from the gateway but from a proxy that cannot reach it.
    /// Such an error may be temporary.
    init(problem body: [UInt8], status: Int, retryAfter: Duration?) {
        let code = Code(status: status)
        if let problem = Problem(body), let title = problem.title {
            self.init(code, problem.detail ?? title, slug: problem.code)
            faults = problem.faults
        } else if code == .notFound {
            self.init(
                .unavailable, "the address is not a Parley gateway: the response was 404 without a problem document")
        } else {
            self.init(code, "the gateway responded with \(status) without a problem document")
        }
        self.retryAfter = retryAfter
        if let retryAfter, retryAfter > Backoff.longestRetrying {
            message += "; try again in \(retryAfter.components.seconds) seconds"
        }
    }

    /// Creates the error of a request without a response.
    init(_ failure: OutboundFailure, url: String, mayBeDone: Bool) {
        let code: Code =
            switch failure.reason {
            case .connectRefused, .dns, .connectTimeout, .responseInvalid: .unavailable
            case .timeout, .reset: mayBeDone ? .outcomeUnknown : .unavailable
            case .tls: .unauthorized
            case .requestInvalid: .malformed
            case .blockedAddress: .forbidden
            case .cancelled: .gone
            case .overloaded: .overloaded
            }
        let sentence =
            failure.reason == .cancelled
            ? "the chat was closed, or the calling task was cancelled" : failure.sentence(url: url)
        self.init(code, sentence, slug: failure.reason == .tls ? Self.untrusted : nil)
    }

    private static let untrusted = "untrusted_connection"

    /// True when the gateway rejected the credential.
    var isOfCredential: Bool { code == .unauthorized && slug != Self.untrusted }

    /// True when a retry may succeed without a change by the client.
    var isPassing: Bool {
        switch code {
        case .tooMany, .overloaded, .unavailable, .outcomeUnknown: true
        case .conflict: retryAfter != nil
        case .malformed, .unauthorized, .forbidden, .notFound, .gone, .stale, .tooLarge, .invalid, .storageFull: false
        }
    }
}

extension ChatError.Code {
    /// Creates the error code for an HTTP status. The gateway has the inverse mapping.
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
