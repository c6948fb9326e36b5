/// Why a transfer has no complete answer.
public struct OutboundFailure: Error, Sendable, Equatable {
    /// The class of a failure. The raw values are the words stored with an attempt.
    ///
    /// `redirect` and `http_status` are not among them: a status is an answer, and what it means is the caller's business.
    public enum Reason: String, Sendable, CaseIterable {
        /// The name could not be resolved, or not in time.
        case dns
        /// Nobody listens there, or no route leads there.
        case connectRefused = "connect_refused"
        /// The connection (TCP and TLS) was not ready within ``ClientOptions/connectTimeout``,
        /// or not before the whole transfer's deadline.
        case connectTimeout = "connect_timeout"
        /// The handshake failed or the certificate is not trusted.
        case tls
        /// The ``AddressGuard`` forbids the URL or every address it resolves to.
        case blockedAddress = "blocked_address"
        /// The deadline passed after connecting; for a stream: nothing arrived for its idle time.
        case timeout
        /// The peer closed or reset the connection before the answer was complete.
        case reset
        /// What came back is not HTTP, or its header is larger than allowed.
        case responseInvalid = "response_invalid"
        /// The task was cancelled or the client was shut down.
        case cancelled
        /// The request cannot be put on the wire: malformed URL, method or header field.
        case requestInvalid = "request_invalid"
        /// Too many requests are waiting, or memory or descriptors are exhausted.
        case overloaded
    }

    public var reason: Reason
    /// What happened, for the log only: text of the C library, addresses of internal hosts.
    public var detail: String
    /// A sentence for whoever had the request made, where a caller that fails before it sends has one to say. The client
    /// itself never sets it.
    public var sentence: String?

    public init(_ reason: Reason, detail: String, sentence: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.sentence = sentence
    }
}
