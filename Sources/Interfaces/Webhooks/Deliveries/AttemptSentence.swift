import ChatModel
import JSON

extension DeliveryAttempt {
    /// The failure of the attempt in one sentence for human readers; nil when the attempt succeeded.
    var sentence: String? {
        guard let error else { return nil }
        switch (error, status) {
        case ("redirect", let status?):
            return "The receiver responded with a redirect (\(status)), which the gateway does not follow."
        case (_, 410?): return "The receiver responded that its address is permanently gone (410)."
        case (_, 429?): return "The receiver responded that it gets too many requests (429)."
        case (_, let status?) where status >= 500: return "The receiver failed with an internal error (\(status))."
        case (_, let status?): return "The receiver rejected the request (\(status))."
        case (_, nil) where cause != nil: return cause
        case (_, nil): return Self.sentences[error] ?? "The attempt failed: \(error)."
        }
    }

    /// The cause of an attempt that failed before anything was sent; nil for other attempts.
    private var cause: String? {
        details.flatMap { try? JSONDocument($0) }?.root["cause"]?.string
    }

    private static let sentences = [
        "dns": "The host name of the receiver could not be resolved.",
        "connect_refused":
            "No program accepts connections at the receiver's address, or the address cannot be reached.",
        "connect_timeout": "The connection to the receiver was not established in time.",
        "tls": "The TLS handshake failed, or the receiver's certificate is not trusted.",
        "blocked_address":
            "The gateway does not connect to the receiver's address, because it is private; see webhook.allow.",
        "timeout": "The receiver did not respond in time.",
        "reset": "The receiver closed the connection before it responded.",
        "response_invalid": "The receiver's response is not HTTP, or the response header is too large.",
        "cancelled": "Nothing was sent, because the event is no longer stored or the webhook was deleted.",
        "request_invalid": "The webhook's settings do not make a valid HTTP request. Nothing was sent.",
        "overloaded": "The gateway had no free connection to send the request.",
        "ack_deadline": "The consumer did not acknowledge the delivery before its deadline.",
        "nack": "The consumer returned the delivery, so that it is delivered again.",
    ]
}
