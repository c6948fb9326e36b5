/// The response to a provider that verifies who controls an address before it sends posts to the address.
public struct HandshakeResponse: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The media type of the body; `nil` for a response without a body.
    public var contentType: String?
    /// The body.
    public var body: String
    /// Additional header fields.
    public var headers: [Header]

    /// A header field.
    public struct Header: Sendable, Equatable {
        /// The name of the field.
        public var name: String
        /// The value of the field.
        public var value: String
    }

    init(status: Int = 200, contentType: String? = nil, body: String = "", headers: [Header] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// Creates a response that returns `text`. The media type is plain text, so that no browser treats the body as a
    /// page.
    static func echo(_ text: String) -> HandshakeResponse {
        HandshakeResponse(contentType: "text/plain; charset=utf-8", body: text)
    }
}

/// Creates the responses to providers' verification requests, which require that a text is returned or signed.
///
/// Each function returns `nil` for a request that is not a verification request. The functions have no side effects, so
/// a provider may repeat its request.
public enum Handshakes {
    /// The maximum length in bytes of a text that is returned.
    static let echoLimitBytes = 1024

    /// Responds to Slack's verification request: a post with the body `{"type":"url_verification","challenge":…}`. The
    /// post is signed like any other post, so verify the signature first.
    ///
    /// - Parameters:
    ///   - type: the member `type` of the body; `nil` if it is not a string.
    ///   - challenge: the member `challenge` of the body; `nil` if it is not a string.
    public static func slack(type: String?, challenge: String?) -> HandshakeResponse? {
        guard type == "url_verification", let challenge, challenge.utf8.count <= echoLimitBytes else { return nil }
        return .echo(challenge)
    }

    /// Responds to the verification request of Meta and of providers that use the same request: `GET
    /// ?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`.
    ///
    /// - Parameter tokens: the tokens that the owner has entered at the provider. The request must contain one of them.
    /// - Returns: the response that returns the challenge; 403 when the request contains none of the tokens; `nil` for
    ///   another request.
    public static func hub(
        query: [SignedMessage.Field], tokens: [Secret]
    ) -> HandshakeResponse? {
        guard value("hub.mode", in: query) == "subscribe", let challenge = value("hub.challenge", in: query),
            challenge.utf8.count <= echoLimitBytes
        else { return nil }
        // Digests are compared instead of tokens. All digests have the same length, so the comparison does not reveal
        // the length of a token.
        let digest = sha256(Array((value("hub.verify_token", in: query) ?? "").utf8))
        guard tokens.contains(where: { constantTimeEqual(sha256($0.bytes), digest) }) else {
            return HandshakeResponse(status: 403)
        }
        return .echo(challenge)
    }

    /// Responds to the verification request of the service X (formerly Twitter), `GET ?crc_token=…`, with the HMAC of
    /// the token. Returns `nil` for any other request.
    ///
    /// Anyone can send this request and thus obtain a signature of a token. The caller must therefore reject every post
    /// whose body satisfies `isToken`.
    ///
    /// - Parameter secret: the consumer secret, which also signs the posts.
    public static func crc(query: [SignedMessage.Field], secret: Secret) -> HandshakeResponse? {
        guard let token = value("crc_token", in: query), isToken(token.utf8) else { return nil }
        let code = MessageAuthentication.code(.sha256, of: Array(token.utf8), key: secret)
        return HandshakeResponse(
            contentType: "application/json", body: #"{"response_token":"sha256=\#(Base64.encode(code))"}"#)
    }

    /// Returns true when the bytes could be a `crc_token` of the service X: 1 to 128 characters of Base64, in the
    /// standard or URL alphabet. False for every JSON object, array or string.
    public static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        (1...128).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "+/-_=".utf8.contains(byte)
                }
            }
    }

    private static func value(_ name: String, in query: [SignedMessage.Field]) -> String? {
        query.first { $0.name == name }?.value
    }
}
