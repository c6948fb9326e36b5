/// The result of one request: a response, a failure, or both (a status arrived, then the connection broke).
public struct OutboundResult: Sendable {
    /// The status of the final response, once its header was complete. A redirect is a response like any other.
    public var status: Int?
    /// The header fields of the final response.
    public var headers: HeaderFields
    /// The first bytes of the body, at most ``ClientOptions/keptResponseBytes``.
    public var body: [UInt8]
    /// True when the response body was longer than ``body``.
    public var truncated: Bool
    /// The durations of the transfer's phases.
    public var timings: OutboundTimings
    /// The address that the response came from (or the last one connected to), numeric, without a port.
    public var connectedAddress: String?
    /// The reason why there is no complete response; `nil` when there is one.
    ///
    /// Stopping at ``ClientOptions/responseLimitBytes`` is not a failure.
    public var failure: OutboundFailure?

    /// Creates a result.
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

/// The durations of a transfer's phases. A phase that was not reached, or not needed on a reused connection, is zero.
public struct OutboundTimings: Sendable, Equatable {
    /// Waiting in the client for a connection. Not part of ``total``, and not under its deadline.
    public var queued: Duration = .zero
    /// The name lookup.
    public var dns: Duration = .zero
    /// Connecting, after the lookup.
    public var connect: Duration = .zero
    /// The TLS handshake, after connecting.
    public var tls: Duration = .zero
    /// From the start of the transfer to the first byte of the response.
    public var firstByte: Duration = .zero
    /// From the start of the transfer to its end.
    public var total: Duration = .zero

    /// Durations of zero.
    public init() {}
}
