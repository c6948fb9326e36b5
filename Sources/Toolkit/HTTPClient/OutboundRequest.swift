/// A request to be sent by a ``Client``.
public struct OutboundRequest: Sendable {
    /// A header field as it goes on the wire.
    public typealias Field = (name: String, value: String)

    /// The method, sent as spelled; methods are case-sensitive (RFC 9110, 9.1).
    public var method: String
    /// An absolute `http` or `https` URL in ASCII: everything else percent-encoded, the host in its `xn--` form.
    public var url: String
    /// Header fields, sent in this order.
    ///
    /// The client adds `Host`, `Accept` and `User-Agent` where absent, and frames the body itself: a request with
    /// `Content-Length`, `Transfer-Encoding` or a malformed field fails as ``OutboundFailure/Reason/requestInvalid``.
    public var headers: [Field]
    /// The body, sent with its length. No `Content-Type` is made up for it.
    public var body: [UInt8]
    /// Replaces ``ClientOptions/totalTimeout`` for this request.
    public var totalTimeout: Duration?
    /// What to show and whom to trust in the TLS handshake; with an `http` URL the request fails as
    /// ``OutboundFailure/Reason/requestInvalid``. A connection is never shared between different ones.
    public var tls: ClientIdentity?

    public init(
        method: String = "GET", url: String, headers: [Field] = [], body: [UInt8] = [],
        totalTimeout: Duration? = nil, tls: ClientIdentity? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.totalTimeout = totalTimeout
        self.tls = tls
    }
}
