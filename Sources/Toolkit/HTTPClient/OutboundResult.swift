/// How one request ended: an answer, a failure, or both (a status arrived, then the connection broke).
public struct OutboundResult: Sendable {
    /// The status of the final answer, once its header was complete. A redirect is an answer like any other.
    public var status: Int?
    /// The header fields of the final answer.
    public var headers: HeaderFields
    /// The first bytes of the body, at most ``ClientOptions/keptResponseBytes``.
    public var body: [UInt8]
    /// Whether the answer's body was longer than what ``body`` holds.
    public var truncated: Bool
    /// Where the time went.
    public var timings: OutboundTimings
    /// The address the answer came from (or the last one connected to), numeric, without a port.
    public var connectedAddress: String?
    /// Why there is no complete answer; `nil` if there is one.
    ///
    /// Stopping at ``ClientOptions/responseLimitBytes`` is not a failure.
    public var failure: OutboundFailure?

    public init(
        status: Int? = nil, headers: HeaderFields = HeaderFields(), body: [UInt8] = [], truncated: Bool = false,
        timings: OutboundTimings = OutboundTimings(), connectedAddress: String? = nil,
        failure: OutboundFailure? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.truncated = truncated
        self.timings = timings
        self.connectedAddress = connectedAddress
        self.failure = failure
    }
}

/// Where the time of a transfer went. What was not reached, or not needed on a kept connection, is zero.
public struct OutboundTimings: Sendable, Equatable {
    /// Waiting in the client for a connection; not part of ``total`` and not under its deadline.
    public var queued: Duration = .zero
    /// Looking up the name.
    public var dns: Duration = .zero
    /// Connecting, after the lookup.
    public var connect: Duration = .zero
    /// The TLS handshake, after connecting.
    public var tls: Duration = .zero
    /// From the start of the transfer to the first byte of the answer.
    public var firstByte: Duration = .zero
    /// From the start of the transfer to its end.
    public var total: Duration = .zero

    public init() {}
}
