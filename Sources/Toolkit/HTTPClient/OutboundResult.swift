/// The result of one request: a response, a failure, or both if the connection failed after the status had arrived.
public struct OutboundResult: Sendable {
    /// The status of the final response; `nil` if the header of the response was not complete. Redirects are not
    /// followed, so this can be the status of a redirect.
    public var status: Int?
    /// The header fields of the final response.
    public var headers: HeaderFields
    /// The first bytes of the body, at most ``ClientOptions/keptResponseBytes``.
    public var body: [UInt8]
    /// True when the response body was longer than ``body``.
    public var truncated: Bool
    /// The durations of the phases of the transfer.
    public var timings: OutboundTimings
    /// The numeric address that the response came from, without a port. If there is no response, the last address that
    /// the client has connected to; `nil` when there was no connection.
    public var connectedAddress: String?
    /// The reason why there is no complete response; `nil` when the response is complete.
    ///
    /// A response that was truncated at ``ClientOptions/responseLimitBytes`` is not a failure.
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
    /// The time that the request waited for a connection in the client. It is not part of ``total`` and does not count
    /// towards ``ClientOptions/totalTimeout``.
    public var queued: Duration = .zero
    /// The duration of the name lookup.
    public var dns: Duration = .zero
    /// The time to open the TCP connection, after the name lookup.
    public var connect: Duration = .zero
    /// The duration of the TLS handshake, after the TCP connection was open.
    public var tls: Duration = .zero
    /// The time from the start of the transfer to the first byte of the response.
    public var firstByte: Duration = .zero
    /// The time from the start of the transfer to its end.
    public var total: Duration = .zero

    /// Creates durations of zero.
    public init() {}
}
