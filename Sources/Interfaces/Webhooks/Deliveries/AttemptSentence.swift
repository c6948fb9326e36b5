import ChatModel
import JSON

extension DeliveryAttempt {
    /// The failure of the attempt in one sentence for human readers; nil when the attempt succeeded.
    var sentence: String? {
        guard let error else { return nil }
        switch (error, status) {
        case ("redirect", let status?): return "The receiver redirects (\(status)). Redirects are not followed."
        case (_, 410?): return "The receiver says that it is gone for good (410)."
        case (_, 429?): return "The receiver asks for fewer requests (429)."
        case (_, let status?) where status >= 500: return "The receiver had an internal error (\(status))."
        case (_, let status?): return "The receiver refused the request (\(status))."
        case (_, nil) where cause != nil: return cause
        case (_, nil): return Self.sentences[error] ?? "The attempt failed: \(error)."
        }
    }

    /// The cause of an attempt that failed before anything was sent; nil for other attempts.
    private var cause: String? {
        details.flatMap { try? JSONDocument($0) }?.root["cause"]?.string
    }

    private static let sentences = [
        "dns": "The receiver's name could not be resolved.",
        "connect_refused": "Nothing listens at the receiver's address, or no route leads to it.",
        "connect_timeout": "The connection to the receiver was not established in time.",
        "tls": "The TLS handshake failed, or the receiver's certificate is not trusted.",
        "blocked_address": "This gateway may not connect to the receiver's address.",
        "timeout": "The receiver did not answer in time.",
        "reset": "The receiver closed the connection before it answered.",
        "response_invalid": "The receiver's answer is not HTTP, or its header is too large.",
        "cancelled": "The delivery was given up before an attempt was made.",
        "request_invalid": "The request could not be made: the webhook's settings do not fit HTTP.",
        "overloaded": "The gateway had no free connection.",
        "ack_deadline": "The consumer did not acknowledge in time.",
        "nack": "The consumer returned it.",
    ]
}
